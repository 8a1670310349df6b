#include "session/node_table.h"

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
  } catch (Error& error) {
    throw error.at_op(op.type(), op.name());
  }
}

NodeTable::Entry& NodeTable::entry(const Operation& op) {
  const auto id = static_cast<size_t>(op.id());
  if (id >= entries_.size()) entries_.resize(id + 1);
  if (!entries_[id]) {
    entries_[id] = std::make_unique<Entry>();
    entries_[id]->slots.resize(static_cast<size_t>(op.num_outputs()));
  }
  return *entries_[id];
}

Slot& NodeTable::slot(const Output& output) {
  return entry(*output.op).slots[static_cast<size_t>(output.index)];
}

NodeItem& NodeTable::item(Operation& op) {
  Entry& own = entry(op);
  if (own.item) return *own.item;
  std::vector<Slot*> inputs;
  for (const Output& input : op.inputs()) inputs.push_back(&slot(input));
  Slot* outputs = own.slots.empty() ? nullptr : own.slots.data();
  own.item = std::make_unique<NodeItem>(op, std::move(inputs), outputs, resources_, buffers_);
  // What only preparing it writes stays from run to run.
  if (own.item->kernel && !own.item->kernel->computes()) {
    for (Slot& output : own.slots) buffers_.keep_apart(output);
  }
  return *own.item;
}

void NodeTable::retain(const Operation& op, bool runs) {
  Entry& own = entry(op);
  ++own.slot_users;
  if (runs) ++own.item_users;
}

void NodeTable::release(const Operation& op, bool runs) {
  Entry& own = entry(op);
  if (runs && --own.item_users == 0) own.item.reset();
  if (--own.slot_users > 0) return;
  for (Slot& output : own.slots) {
    buffers_.forget(output);
    output.tensor = Tensor();
    output.owned = output.fed = false;
    ++output.version;
  }
  ++epoch;
}

}  // namespace runhooks
