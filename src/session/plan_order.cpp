#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/complexity_counter.h"
#include "base/interrupt.h"
#include "session/plan.h"

namespace runhooks {

namespace {

// All changes made by a function count as one change of its calling op.
bool is_mutating(const Operation* op) {
  return !op->def().mutates.empty() || (op->def().calls_functions && op->def().is_stateful);
}

// The operations that the fetches need, excluding fed ones, with their indices.
struct Needed {
  std::vector<Operation*> ops;
  std::unordered_map<const Operation*, size_t> positions;
};

Needed needed_operations(const std::vector<Fetch>& fetches, const OutputSet& feeds) {
  Needed needed;
  const auto visit = [&](Operation* op) {
    ++pass_work_count();
    if (needed.positions.emplace(op, needed.ops.size()).second) needed.ops.push_back(op);
  };
  for (const Fetch& fetch : fetches) {
    if (fetch.is_tensor() && feeds.count(Output(fetch.op, fetch.index)) > 0) continue;
    visit(fetch.op);
  }
  InterruptPoll poll;
  for (size_t i = 0; i < needed.ops.size(); ++i) {
    poll();
    const Operation* op = needed.ops[i];
    for (const Output& input : op->inputs()) {
      if (feeds.count(input) == 0) visit(input.op);
    }
    for (Operation* control : op->control_inputs()) visit(control);
  }
  return needed;
}

// The state of a topological sort (Kahn's algorithm). One array holds all successor lists.
class ReadyQueue {
 public:
  ReadyQueue(const Needed& needed, const OutputSet& feeds)
      : ends_(needed.ops.size() + 1), pending_inputs_(needed.ops.size()) {
    std::vector<std::pair<size_t, size_t>> pairs;  // (producer, consumer)
    InterruptPoll poll;
    for (size_t i = 0; i < needed.ops.size(); ++i) {
      poll();
      const Operation* op = needed.ops[i];
      const size_t before = pairs.size();
      for (const Output& input : op->inputs()) {
        if (feeds.count(input) == 0) pairs.emplace_back(needed.positions.at(input.op), i);
      }
      for (const Operation* control : op->control_inputs()) {
        pairs.emplace_back(needed.positions.at(control), i);
      }
      pending_inputs_[i] = pairs.size() - before;
    }
    for (const auto& pair : pairs) ++ends_[pair.first + 1];
    for (size_t i = 1; i < ends_.size(); ++i) ends_[i] += ends_[i - 1];
    row_.resize(pairs.size());
    std::vector<size_t> next(ends_.begin(), ends_.end() - 1);
    for (const auto& pair : pairs) row_[next[pair.first]++] = pair.second;
  }
  bool is_ready(size_t i) const { return pending_inputs_[i] == 0; }
  // Calls `ready` for each successor whose last dependency was `i`.
  template <typename Ready>
  void done(size_t i, const Ready& ready) {
    for (size_t k = ends_[i]; k < ends_[i + 1]; ++k) {
      if (--pending_inputs_[row_[k]] == 0) ready(row_[k]);
    }
  }

 private:
  std::vector<size_t> ends_, row_;  // successors of i end before ends_[i + 1]
  std::vector<size_t> pending_inputs_;  // unfinished dependencies of each operation
};

}  // namespace

std::vector<Operation*> ordered_operations(const std::vector<Fetch>& fetches,
                                           const OutputSet& feeds) {
  const Needed needed = needed_operations(fetches, feeds);
  ReadyQueue followers(needed, feeds);
  const auto later = [](const Operation* a, const Operation* b) {
    if (is_mutating(a) != is_mutating(b)) return is_mutating(a);
    return a->id() > b->id();
  };
  std::priority_queue<Operation*, std::vector<Operation*>, decltype(later)> ready(later);
  for (size_t i = 0; i < needed.ops.size(); ++i) {
    if (followers.is_ready(i)) ready.push(needed.ops[i]);
  }
  std::vector<Operation*> order;
  order.reserve(needed.ops.size());
  InterruptPoll poll;
  while (!ready.empty()) {
    poll();
    Operation* op = ready.top();
    ready.pop();
    order.push_back(op);
    followers.done(needed.positions.at(op), [&](size_t i) { ready.push(needed.ops[i]); });
  }
  if (order.size() != needed.ops.size()) {
    fail(Code::kInvalidArgument, "The graph has a cycle through the fetched operations.");
  }
  return order;
}

}  // namespace runhooks
