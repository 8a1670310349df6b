#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/complexity_counter.h"
#include "base/interrupt.h"
#include "session/plan.h"

namespace runhooks {

namespace {

// True if the op changes a variable, directly or through a function that it calls.
bool is_mutating(const Operation* op) {
  return !op->def().mutates.empty() || (op->def().calls_functions && op->def().is_stateful);
}

// The operations that must run to compute the fetches, and the index in `ops` of each operation.
struct PrunedGraph {
  std::vector<Operation*> ops;
  std::unordered_map<const Operation*, size_t> positions;
};

PrunedGraph prune_graph(const std::vector<Fetch>& fetches, const OutputSet& feeds) {
  PrunedGraph pruned;
  const auto visit = [&](Operation* op) {
    ++pass_work_count();
    if (pruned.positions.emplace(op, pruned.ops.size()).second) pruned.ops.push_back(op);
  };
  for (const Fetch& fetch : fetches) {
    if (fetch.is_tensor() && feeds.count(Output(fetch.op, fetch.index)) > 0) continue;
    visit(fetch.op);
  }
  InterruptPoll poll;
  for (size_t i = 0; i < pruned.ops.size(); ++i) {
    poll();
    const Operation* op = pruned.ops[i];
    for (const Output& input : op->inputs()) {
      if (feeds.count(input) == 0) visit(input.op);
    }
    for (Operation* control : op->control_inputs()) visit(control);
  }
  return pruned;
}

// Counts the unfinished dependencies of each operation, for a topological sort (Kahn's algorithm).
class DependencyTracker {
 public:
  DependencyTracker(const PrunedGraph& pruned, const OutputSet& feeds)
      : successor_ends_(pruned.ops.size() + 1), pending_inputs_(pruned.ops.size()) {
    std::vector<std::pair<size_t, size_t>> pairs;  // (producer, consumer)
    InterruptPoll poll;
    for (size_t i = 0; i < pruned.ops.size(); ++i) {
      poll();
      const Operation* op = pruned.ops[i];
      const size_t before = pairs.size();
      for (const Output& input : op->inputs()) {
        if (feeds.count(input) == 0) pairs.emplace_back(pruned.positions.at(input.op), i);
      }
      for (const Operation* control : op->control_inputs()) {
        pairs.emplace_back(pruned.positions.at(control), i);
      }
      pending_inputs_[i] = pairs.size() - before;
    }
    for (const auto& pair : pairs) ++successor_ends_[pair.first + 1];
    for (size_t i = 1; i < successor_ends_.size(); ++i)
      successor_ends_[i] += successor_ends_[i - 1];
    successors_.resize(pairs.size());
    std::vector<size_t> next(successor_ends_.begin(), successor_ends_.end() - 1);
    for (const auto& pair : pairs) successors_[next[pair.first]++] = pair.second;
  }
  bool is_ready(size_t i) const { return pending_inputs_[i] == 0; }
  // Records that operation `i` has run. Calls on_ready() for each operation that became ready.
  template <typename OnReady>
  void mark_done(size_t i, const OnReady& on_ready) {
    for (size_t k = successor_ends_[i]; k < successor_ends_[i + 1]; ++k) {
      if (--pending_inputs_[successors_[k]] == 0) on_ready(successors_[k]);
    }
  }

 private:
  // The operations that depend on operation i are the elements of successors_ in the range
  // [successor_ends_[i], successor_ends_[i + 1]).
  std::vector<size_t> successor_ends_, successors_;
  std::vector<size_t> pending_inputs_;  // unfinished dependencies of each operation
};

}  // namespace

std::vector<Operation*> ordered_operations(const std::vector<Fetch>& fetches,
                                           const OutputSet& feeds) {
  const PrunedGraph pruned = prune_graph(fetches, feeds);
  DependencyTracker tracker(pruned, feeds);
  const auto runs_later = [](const Operation* a, const Operation* b) {
    if (is_mutating(a) != is_mutating(b)) return is_mutating(a);
    return a->id() > b->id();
  };
  std::priority_queue<Operation*, std::vector<Operation*>, decltype(runs_later)> ready_ops(
      runs_later);
  for (size_t i = 0; i < pruned.ops.size(); ++i) {
    if (tracker.is_ready(i)) ready_ops.push(pruned.ops[i]);
  }
  std::vector<Operation*> order;
  order.reserve(pruned.ops.size());
  InterruptPoll poll;
  while (!ready_ops.empty()) {
    poll();
    Operation* op = ready_ops.top();
    ready_ops.pop();
    order.push_back(op);
    tracker.mark_done(pruned.positions.at(op), [&](size_t i) { ready_ops.push(pruned.ops[i]); });
  }
  if (order.size() != pruned.ops.size()) {
    fail(Code::kInvalidArgument, "The graph has a cycle through the fetched operations.");
  }
  return order;
}

}  // namespace runhooks
