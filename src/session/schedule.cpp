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

// True if the operation can be reordered with independent operations. Other operations have visible
// side effects, whose order must not change.
bool can_be_reordered(const OpDef& def) {
  if (def.is_host_function) return false;
  return !def.is_stateful || def.updates_variables || def.order_insensitive;
}

// Assigns each node, in plan order, the lowest level at which its inputs are available.
class LevelScheduler {
 public:
  int assign_level(const Operation& op) {
    int level = min_level_;
    const bool keeps_order = !can_be_reordered(op.def()),
               is_first_update = op.def().updates_variables && !has_updates_;
    // The first update gets a new level. So updates start only after all nodes before it succeed.
    if (keeps_order || is_first_update) level = min_level_ = num_levels_;
    has_updates_ = has_updates_ || op.def().updates_variables;

    Variables read_variables, written_variables;
    if (op.def().holds_variable) read_variables.push_back(&op);
    for (const Output& input : op.inputs()) {
      const Node& source = nodes_[input.op];
      level = std::max(level, source.next_level);
      add_all(read_variables, source.aliased_variables);
    }
    for (const Operation* control : op.control_inputs()) {
      level = std::max(level, nodes_[control].next_level);
    }
    for (const int input : op.def().mutates) {
      add_all(written_variables, nodes_[op.input(input).op].aliased_variables);
    }
    make_unique(read_variables);
    make_unique(written_variables);
    pass_work_count() += 1 + read_variables.size() + written_variables.size();
    for (const Operation* variable : read_variables)
      level = std::max(level, variable_levels_[variable].level_after_change);
    for (const Operation* variable : written_variables)
      level = std::max(level, variable_levels_[variable].level_after_reads);

    for (const Operation* variable : read_variables)
      raise_to(variable_levels_[variable].level_after_reads, level + 1);
    for (const Operation* variable : written_variables)
      raise_to(variable_levels_[variable].level_after_change, level + 1);
    Node& node = nodes_[&op];
    if (may_alias(op)) node.aliased_variables = std::move(read_variables);
    node.next_level = level + 1;
    raise_to(num_levels_, level + 1);
    if (keeps_order) min_level_ = num_levels_;
    return level;
  }

 private:
  using Variables = std::vector<const Operation*>;
  struct Node {
    int next_level = 0;  // the first level that can use its outputs
    Variables aliased_variables;
  };
  struct VariableLevels {
    int level_after_reads = 0, level_after_change = 0;
  };
  static void raise_to(int& limit, int to) { limit = std::max(limit, to); }
  static void add_all(Variables& to, const Variables& added) {
    to.insert(to.end(), added.begin(), added.end());
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
  int min_level_ = 0;   // the lowest level that the next node may have
  int num_levels_ = 0;  // levels that have nodes so far
  bool has_updates_ = false;
  std::unordered_map<const Operation*, Node> nodes_;
  std::unordered_map<const Operation*, VariableLevels>
      variable_levels_;  // keyed by the variable's op
};

}  // namespace

// Ops with string outputs add to a shared dictionary, and ops that create handles use the session's
// resources. Both must run on the session's thread.
bool may_run_on_helper(const Operation& op) {
  // A called function runs its own steps on the helper threads, so its call must not occupy one.
  if (!can_be_reordered(op.def()) || op.def().calls_functions) return false;
  for (int i = 0; i < op.num_outputs(); ++i) {
    if (op.output_is_ref(i) && !op.def().updates_variables) return false;
    const DType dtype = op.output_dtype(i);
    if (dtype_size(dtype) == 0 || dtype == DType::kString) return false;
  }
  return true;
}

std::vector<int> schedule_levels(const std::vector<Operation*>& order) {
  LevelScheduler scheduler;
  std::vector<int> result;
  InterruptPoll poll;
  for (const Operation* op : order) {
    poll();
    result.push_back(scheduler.assign_level(*op));
  }
  return result;
}

}  // namespace runhooks
