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
    rethrow_at(op);
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
  NodeEntry& own = entry(*output.op);
  own.feed_slots.resize(own.slots.size());
  return own.feed_slots[place(output)];
}

NodeItem& NodeTable::item(Operation& op, const std::vector<bool>& fed_inputs) {
  NodeEntry& own = entry(op);
  for (const auto& item : own.items) {
    if (item.first == fed_inputs) return *item.second;
  }
  std::vector<Slot*> inputs;
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    const Output& input = op.inputs()[i];
    inputs.push_back(fed_inputs[i] ? &feed_slot(input) : &slot(input));
  }
  Slot* outputs = own.slots.empty() ? nullptr : own.slots.data();
  auto made = std::make_unique<NodeItem>(op, std::move(inputs), outputs, resources_, buffers_);
  // A kernel that writes only during preparation has outputs that persist across runs.
  if (made->kernel && !made->kernel->computes()) {
    for (Slot& output : own.slots) buffers_.exclude_from_sharing(output);
  }
  own.items.emplace_back(fed_inputs, std::move(made));
  return *own.items.back().second;
}

void NodeTable::retain(const Operation& op, bool runs) {
  NodeEntry& own = entry(op);
  ++own.users;
  if (runs) ++own.runners;
}

void NodeTable::release(const Operation& op, bool runs) {
  NodeEntry& own = entry(op);
  if (runs && --own.runners == 0) own.items.clear();
  if (--own.users > 0) return;
  for (std::vector<Slot>* slots : {&own.slots, &own.feed_slots}) {
    for (Slot& slot : *slots) {
      buffers_.forget(slot);
      slot.tensor = Tensor();
      slot.owned = false;
      ++slot.version;
    }
  }
  own.holds_invariant = false;
  ++epoch;
}

}  // namespace runhooks
