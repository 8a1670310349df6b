#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "base/interrupt.h"
#include "base/looks.h"
#include "session/plan.h"

namespace runhooks {

namespace {

// What a function of an operation may change is all taken as one change.
bool is_mutating(const Operation* op) {
  return !op->def().mutates.empty() || (op->def().calls_functions && op->def().is_stateful);
}

// Everything the fetches need, except what is fed.
std::vector<Operation*> needed_operations(const std::vector<Fetch>& fetches,
                                          const OutputSet& feeds) {
  std::unordered_set<const Operation*> seen;
  std::vector<Operation*> needed, stack;
  auto visit = [&](Operation* op) {
    ++looks();
    if (!seen.insert(op).second) return;
    needed.push_back(op);
    stack.push_back(op);
  };
  for (const Fetch& fetch : fetches) {
    if (fetch.is_tensor() && feeds.count(Output(fetch.op, fetch.index)) > 0) continue;
    visit(fetch.op);
  }
  InterruptPoll poll;
  while (!stack.empty()) {
    poll();
    Operation* op = stack.back();
    stack.pop_back();
    for (const Output& input : op->inputs()) {
      if (feeds.count(input) == 0) visit(input.op);
    }
    for (Operation* control : op->control_inputs()) visit(control);
  }
  return needed;
}

}  // namespace

std::vector<Operation*> ordered_operations(const std::vector<Fetch>& fetches,
                                           const OutputSet& feeds) {
  const std::vector<Operation*> needed = needed_operations(fetches, feeds);
  std::unordered_map<const Operation*, int> waits_for;
  std::unordered_map<const Operation*, std::vector<Operation*>> followers;
  for (Operation* op : needed) {
    int count = 0;
    auto depend_on = [&](Operation* other) {
      followers[other].push_back(op);
      ++count;
    };
    for (const Output& input : op->inputs()) {
      if (feeds.count(input) == 0) depend_on(input.op);
    }
    for (Operation* control : op->control_inputs()) depend_on(control);
    waits_for[op] = count;
  }
  auto later = [](const Operation* a, const Operation* b) {
    if (is_mutating(a) != is_mutating(b)) return is_mutating(a);
    return a->id() > b->id();
  };
  std::priority_queue<Operation*, std::vector<Operation*>, decltype(later)> ready(later);
  for (Operation* op : needed) {
    if (waits_for[op] == 0) ready.push(op);
  }
  std::vector<Operation*> order;
  InterruptPoll poll;
  while (!ready.empty()) {
    poll();
    Operation* op = ready.top();
    ready.pop();
    order.push_back(op);
    for (Operation* follower : followers[op]) {
      if (--waits_for[follower] == 0) ready.push(follower);
    }
  }
  if (order.size() != needed.size()) {
    fail(Code::kInvalidArgument, "The graph has a cycle through the fetched operations.");
  }
  return order;
}

}  // namespace runhooks
