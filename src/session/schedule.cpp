#include "session/schedule.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/complexity_counter.h"
#include "base/interrupt.h"
#include "graph/op_registry.h"

namespace runhooks {

namespace {

// True if the node may be reordered with independent nodes. Other nodes have visible side effects,
// whose order must not change.
bool can_move(const OpDef& def) {
  if (def.is_host_function) return false;
  return !def.is_stateful || def.updates_variables || def.order_insensitive;
}

// Assigns each node, in plan order, the lowest level at which its inputs are available.
class Levels {
 public:
  int add(const Operation& op) {
    int level = first_;
    const bool is_fixed = !can_move(op.def()),
               begins_updates = op.def().updates_variables && !has_updates_;
    // Updates start only after all nodes before the first update have succeeded.
    if (is_fixed || begins_updates) level = first_ = end_;
    has_updates_ = has_updates_ || op.def().updates_variables;

    Variables reads, changes;
    if (op.def().holds_variable) reads.push_back(&op);
    for (const Output& input : op.inputs()) {
      const Node& source = nodes_[input.op];
      level = std::max(level, source.after);
      add_all(reads, source.aliased_variables);
    }
    for (const Operation* control : op.control_inputs()) {
      level = std::max(level, nodes_[control].after);
    }
    for (const int input : op.def().mutates) {
      add_all(changes, nodes_[op.input(input).op].aliased_variables);
    }
    make_unique(reads);
    make_unique(changes);
    pass_work_count() += 1 + reads.size() + changes.size();
    for (const Operation* variable : reads) level = std::max(level, uses_[variable].after_change);
    for (const Operation* variable : changes) level = std::max(level, uses_[variable].after_reads);

    for (const Operation* variable : reads) raise(uses_[variable].after_reads, level + 1);
    for (const Operation* variable : changes) raise(uses_[variable].after_change, level + 1);
    Node& node = nodes_[&op];
    if (may_alias(op)) node.aliased_variables = std::move(reads);
    node.after = level + 1;
    raise(end_, level + 1);
    if (is_fixed) first_ = end_;
    return level;
  }

 private:
  using Variables = std::vector<const Operation*>;
  struct Node {
    int after = 0;  // the first level at which its outputs are available
    Variables aliased_variables;
  };
  struct Uses {
    int after_reads = 0, after_change = 0;
  };
  static void raise(int& limit, int to) { limit = std::max(limit, to); }
  static void add_all(Variables& to, const Variables& more) {
    to.insert(to.end(), more.begin(), more.end());
  }
  static void make_unique(Variables& variables) {
    if (variables.size() < 2) return;
    std::sort(variables.begin(), variables.end());
    variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  }
  // True if an output may alias a variable's buffer.
  static bool may_alias(const Operation& op) {
    const OpDef& def = op.def();
    bool aliases = def.holds_variable || def.reads_variable || def.forwards || def.may_forward;
    for (int i = 0; i < op.num_outputs(); ++i) aliases = aliases || op.output_is_ref(i);
    return aliases;
  }
  int first_ = 0, end_ = 0;  // first level open to the next node, and first empty level
  bool has_updates_ = false;
  std::unordered_map<const Operation*, Node> nodes_;
  std::unordered_map<const Operation*, Uses> uses_;  // keyed by the variable's op
};

}  // namespace

// Strings append to a shared dictionary, and ops that create handles use the session's resources.
// Both need the session's thread.
bool may_run_on_helper(const Operation& op) {
  // A called function runs its own steps on the helper threads, so its call must not occupy one.
  if (!can_move(op.def()) || op.def().calls_functions) return false;
  for (int i = 0; i < op.num_outputs(); ++i) {
    if (op.output_is_ref(i) && !op.def().updates_variables) return false;
    const DType dtype = op.output_dtype(i);
    if (dtype_size(dtype) == 0 || dtype == DType::kString) return false;
  }
  return true;
}

std::vector<int> schedule_levels(const std::vector<Operation*>& order) {
  Levels levels;
  std::vector<int> result;
  InterruptPoll poll;
  for (const Operation* op : order) {
    poll();
    result.push_back(levels.add(*op));
  }
  return result;
}

}  // namespace runhooks
