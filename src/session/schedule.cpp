#include "session/schedule.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/interrupt.h"
#include "base/looks.h"
#include "graph/op_registry.h"

namespace runhooks {

namespace {

// Whether the node may be moved among nodes that it does not depend on. The others have effects
// that are seen from outside, in an order that must stay.
bool can_move(const OpDef& def) {
  if (def.is_host_function) return false;
  return !def.is_stateful || def.updates_variables || def.order_insensitive;
}

// Gives each node, in the plan's order, the first level in which all that it needs is there.
class Levels {
 public:
  int add(const Operation& op) {
    int level = first_;
    const bool stays = !can_move(op.def()),
               begins_updates = op.def().updates_variables && !has_updates_;
    // No variable is changed before everything ahead of the first update went well.
    if (stays || begins_updates) level = first_ = end_;
    has_updates_ = has_updates_ || op.def().updates_variables;

    Variables reads, changes;
    if (op.def().holds_variable) reads.insert(&op);
    for (const Output& input : op.inputs()) {
      level = std::max(level, after_[input.op]);
      reads.insert(variables_behind_[input.op].begin(), variables_behind_[input.op].end());
    }
    for (const Operation* control : op.control_inputs()) level = std::max(level, after_[control]);
    for (const int input : op.def().mutates) {
      const Variables& behind = variables_behind_[op.input(input).op];
      changes.insert(behind.begin(), behind.end());
    }
    looks() += 1 + reads.size() + changes.size();
    for (const Operation* variable : reads) level = std::max(level, after_change_[variable]);
    for (const Operation* variable : changes) level = std::max(level, after_reads_[variable]);

    for (const Operation* variable : reads) raise(after_reads_[variable], level + 1);
    for (const Operation* variable : changes) raise(after_change_[variable], level + 1);
    if (keeps_buffer(op)) variables_behind_[&op] = reads;
    after_[&op] = level + 1;
    raise(end_, level + 1);
    if (stays) first_ = end_;
    return level;
  }

 private:
  using Variables = std::set<const Operation*>;
  static void raise(int& limit, int to) { limit = std::max(limit, to); }
  // Whether an output may be the buffer of a variable that an input refers to.
  static bool keeps_buffer(const Operation& op) {
    const OpDef& def = op.def();
    bool keeps = def.holds_variable || def.reads_variable || def.forwards || def.may_forward;
    for (int i = 0; i < op.num_outputs(); ++i) keeps = keeps || op.output_is_ref(i);
    return keeps;
  }
  int first_ = 0, end_ = 0;  // where the next node may go, and the first level without nodes
  bool has_updates_ = false;
  std::unordered_map<const Operation*, int> after_;
  std::unordered_map<const Operation*, int> after_reads_, after_change_;  // of a variable's op
  std::unordered_map<const Operation*, Variables> variables_behind_;
};

}  // namespace

// Strings grow a dictionary that others read, and who makes a handle looks it up in the session.
bool may_run_on_helper(const Operation& op) {
  // a function's own steps use the threads
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
