#include "session/plan.h"

#include <algorithm>
#include <string>

#include "base/complexity_counter.h"
#include "base/interrupt.h"
#include "graph/func_graph.h"
#include "session/schedule.h"

namespace runhooks {

Plan::Plan(std::shared_ptr<NodeTable> table,
           const std::vector<Fetch>& fetches,
           const std::vector<Output>& feeds)
    : table_(std::move(table)), fed_(feeds.begin(), feeds.end()), num_results_(fetches.size()) {
  for (const Output& feed : feeds) feeds_.emplace_back(feed, &table_->feed_slot(feed));
  const std::vector<Operation*> order = ordered_operations(fetches, fed_);
  const std::vector<int> levels = schedule_levels(order);
  nodes_.reserve(order.size());
  positions_.reserve(order.size());
  InterruptPoll poll;
  for (size_t i = 0; i < order.size(); ++i) {
    poll();
    nodes_.push_back(make_node(*order[i], levels[i]));
    positions_[order[i]] = i;
  }
  add_copies(fetches);
  mark_snapshots();
  find_live_ranges();
  join_table();
}

Plan::Node Plan::make_node(Operation& op, int level) {
  Node node;
  node.level = level;
  std::vector<bool> fed_inputs;
  bool all_invariant = true;
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    const Output& input = op.inputs()[i];
    fed_inputs.push_back(is_fed(input));
    const bool is_invariant = !fed_inputs[i] && nodes_[positions_.at(input.op)].is_invariant;
    if (is_invariant) node.invariant_inputs.insert(static_cast<int>(i));
    all_invariant = all_invariant && is_invariant;
  }
  node.item = &table_->item(op, fed_inputs);
  node.entry = &table_->entry(op);
  const bool is_pure = !op.def().is_stateful && op.num_outputs() > 0;
  node.is_invariant = op.def().shape_dependent || (is_pure && all_invariant);
  return node;
}

void Plan::add_copies(const std::vector<Fetch>& fetches) {
  for (size_t i = 0; i < fetches.size(); ++i) {
    if (!fetches[i].is_tensor()) continue;
    const Output output(fetches[i].op, fetches[i].index);
    if (is_fed(output)) {
      fed_copies_.push_back({&table_->feed_slot(output), i});
    } else {
      nodes_[positions_.at(output.op)].copies.push_back({&table_->slot(output), i});
    }
  }
}

// A read that aliases a variable must copy it if the value is used after the variable is updated.
// One pass suffices, because it records the last update of each variable and the read of each
// value.
void Plan::mark_snapshots() {
  std::unordered_map<const Operation*, size_t> read_of_value;  // op -> read that output 0 may alias
  std::unordered_map<std::string, size_t> last_updates;        // last update, by variable name
  InterruptPoll poll;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    poll();
    const Operation& op = nodes_[i].item->op;
    for (const Output& input : op.inputs()) {
      ++pass_work_count();
      const auto read = read_of_value.find(input.op);
      if (read == read_of_value.end()) continue;
      Node& reader = nodes_[read->second];
      const auto last_update = last_updates.find(reader.item->op.input(0).op->name());
      const bool is_used_after_update =
          last_update != last_updates.end() && last_update->second > read->second;
      reader.needs_snapshot = reader.needs_snapshot || is_used_after_update;
    }
    if (op.def().reads_variable) {
      read_of_value[&op] = i;
    } else if (op.def().forwards || op.def().may_forward) {
      const auto read = read_of_value.find(op.input(0).op);
      if (read != read_of_value.end()) read_of_value[&op] = read->second;
    }
    for (const std::string& variable : modified_variables(op)) last_updates[variable] = i;
  }
}

// Visits the nodes backwards, so that all readers of a buffer come before the node that produces
// it.
void Plan::find_live_ranges() {
  std::unordered_map<Slot*, LiveRange> last_use;
  last_use.reserve(nodes_.size());
  liveness_.reserve(nodes_.size());
  const auto extend_range = [&last_use](Slot* slot, int position, int level) {
    LiveRange& range = last_use[slot];
    range.last = std::max(range.last, position);
    range.last_level = std::max(range.last_level, level);
  };
  InterruptPoll poll;
  for (size_t i = nodes_.size(); i-- > 0;) {
    poll();
    Operation& op = nodes_[i].item->op;
    const int position = static_cast<int>(i), level = nodes_[i].level;
    for (int k = 0; k < op.num_outputs(); ++k) {
      Slot* slot = &table_->slot(op.output(k));
      extend_range(slot, position, level);
      LiveRange range = last_use[slot];
      range.first = position;
      range.first_level = level;
      liveness_.emplace(slot, range);
    }
    for (size_t k = 0; k < op.inputs().size(); ++k) {
      if (is_fed(op.inputs()[k])) continue;
      Slot* slot = &table_->slot(op.inputs()[k]);
      extend_range(slot, position, level);
      const bool is_forwarded = k == 0 && (op.def().forwards || op.def().may_forward);
      if (!is_forwarded) continue;
      const LiveRange& output_range = last_use[&table_->slot(op.output(0))];
      extend_range(slot, output_range.last, output_range.last_level);
    }
  }
}

void Plan::join_table() {
  for (Node& node : nodes_) {
    Operation& op = node.item->op;
    table_->retain(op, true);
    if (!node.is_invariant) continue;
    for (int i = 0; i < op.num_outputs(); ++i) {
      table_->buffers().exclude_from_sharing(table_->slot(op.output(i)));
    }
  }
  for (const auto& feed : feeds_) table_->retain(*feed.first.op, false);
  table_->buffers().add(liveness_);
  ++table_->epoch;
}

Plan::~Plan() {
  table_->buffers().remove(liveness_);
  for (const Node& node : nodes_) table_->release(node.item->op, true);
  for (const auto& feed : feeds_) table_->release(*feed.first.op, false);
}

}  // namespace runhooks
