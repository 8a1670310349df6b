#include "session/node_table.h"

#include "graph/op_check.h"

namespace runhooks {

NodeItem::NodeItem(Operation& operation,
                   std::vector<Slot*> inputs,
                   Slot* outputs,
                   ResourceManager& resources,
                   BufferAllocator& allocator)
    : op(operation),
      context(op,
              std::move(inputs),
              outputs,
              operation.num_outputs(),
              resources,
              allocator,
              layout_changed) {
  if (!op.def().kernel_factory) return;
  try {
    kernel = op.def().kernel_factory(op);
  } catch (...) {
    rethrow_for_op(op);
  }
}

NodeEntry& NodeTable::entry(const Operation& op) {
  const auto id = static_cast<size_t>(op.id());
  if (id >= entries_.size()) entries_.resize(id + 1);
  if (!entries_[id]) {
    entries_[id] = std::make_unique<NodeEntry>();
    entries_[id]->slots.resize(static_cast<size_t>(op.num_outputs()));
  }
  return *entries_[id];
}

Slot& NodeTable::feed_slot(const Output& output) {
  NodeEntry& node_entry = entry(*output.op);
  node_entry.feed_slots.resize(node_entry.slots.size());
  return node_entry.feed_slots[index_of(output)];
}

NodeItem& NodeTable::item(Operation& op, const std::vector<bool>& fed_inputs) {
  NodeEntry& node_entry = entry(op);
  for (const auto& item : node_entry.items) {
    if (item.first == fed_inputs) return *item.second;
  }
  std::vector<Slot*> inputs;
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    const Output& input = op.inputs()[i];
    inputs.push_back(fed_inputs[i] ? &feed_slot(input) : &slot(input));
  }
  Slot* outputs = node_entry.slots.empty() ? nullptr : node_entry.slots.data();
  auto new_item = std::make_unique<NodeItem>(op, std::move(inputs), outputs, resources_, buffers_);
  // A kernel that writes only during preparation has outputs that persist across runs.
  if (new_item->kernel && !new_item->kernel->computes()) {
    for (Slot& output : node_entry.slots) buffers_.exclude_from_sharing(output);
  }
  node_entry.items.emplace_back(fed_inputs, std::move(new_item));
  return *node_entry.items.back().second;
}

void NodeTable::retain(const Operation& op, bool runs) {
  NodeEntry& node_entry = entry(op);
  ++node_entry.users;
  if (runs) ++node_entry.runners;
}

void NodeTable::release(const Operation& op, bool runs) {
  NodeEntry& node_entry = entry(op);
  if (runs && --node_entry.runners == 0) node_entry.items.clear();
  if (--node_entry.users > 0) return;
  for (std::vector<Slot>* slots : {&node_entry.slots, &node_entry.feed_slots}) {
    for (Slot& slot : *slots) {
      buffers_.forget(slot);
      slot.tensor = Tensor();
      slot.owned = false;
      ++slot.version;
    }
  }
  node_entry.holds_invariant = false;
  ++epoch;
}

}  // namespace runhooks
