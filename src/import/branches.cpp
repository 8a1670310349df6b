#include "import/branches.h"

#include <algorithm>
#include <set>

#include "base/complexity_counter.h"
#include "base/interrupt.h"
#include "base/status.h"

namespace runhooks {

namespace {

constexpr int kMaxDepth = 50;  // of nested conditionals; limits what a malicious file can request

}  // namespace

bool is_switch(const NodeDef& node) { return node.op == "Switch" || node.op == "RefSwitch"; }
bool is_merge(const NodeDef& node) { return node.op == "Merge" || node.op == "RefMerge"; }

bool is_control_input(const std::string& input) { return !input.empty() && input[0] == '^'; }

std::string node_of_input(const std::string& input) {
  if (is_control_input(input)) return input.substr(1);
  return input.substr(0, input.rfind(':'));
}

std::string with_output_index(const std::string& input) {
  return input.find(':') == std::string::npos ? input + ":0" : input;
}

Branches::Branches(const std::vector<const NodeDef*>& order) : order_(order), branches_(1) {
  for (size_t i = 0; i < order.size(); ++i) {
    check_interrupt();
    positions_[order[i]->name] = i;
  }
  for (const NodeDef* node : order) {
    check_interrupt();
    record_identity(*node);
    assign(*node);
  }
}

const NodeDef* Branches::find(const std::string& name) const {
  const auto found = positions_.find(name);
  return found == positions_.end() ? nullptr : order_[found->second];
}

int Branches::branch_of(const NodeDef& node) const {
  const auto found = branch_of_node_.find(&node);
  return found == branch_of_node_.end() ? 0 : found->second;
}

int Branches::branch_of_input(const std::string& input) const {
  const NodeDef* producer = find(node_of_input(input));
  if (!producer) return 0;
  const NodeDef& node = *producer;
  if (!is_switch(node) || is_control_input(input)) return branch_of(node);
  const auto sides = first_branches_.find({branch_of(node), root_predicate(node)});
  const std::string full = with_output_index(input), index = full.substr(full.rfind(':'));
  if (index != ":0" && index != ":1") {
    fail(Code::kDataLoss, "Switch '", node.name, "' of the GraphDef has no output '", index, "'.");
  }
  return sides->second + (index == ":1");
}

// Each tf.cond adds its own Identity to its predicate. For an Identity node, records its root: the
// tensor that it copies, directly or through other Identity nodes. Inputs precede their consumers,
// so the root of the input is already known.
void Branches::record_identity(const NodeDef& node) {
  ++pass_work_count();
  if (node.op != "Identity" || node.inputs.empty()) return;
  const std::string source = with_output_index(node.inputs[0]);
  const auto root = root_tensors_.find(source);
  root_tensors_[node.name + ":0"] = root == root_tensors_.end() ? source : root->second;
}

std::string Branches::root_predicate(const NodeDef& node) const {
  const std::string pred = with_output_index(node.inputs[1]);
  const auto root = root_tensors_.find(pred);
  return root == root_tensors_.end() ? pred : root->second;
}

void Branches::add_conditional(int enclosing, const std::string& pred) {
  const auto first = static_cast<int>(branches_.size());
  if (!first_branches_.emplace(std::make_pair(enclosing, pred), first).second) return;
  const int depth = branches_[static_cast<size_t>(enclosing)].depth + 1;
  if (depth > kMaxDepth) {
    fail(Code::kUnimplemented, "The GraphDef nests conditionals ", depth,
         " levels deep, which is not supported.");
  }
  for (int side = 0; side < 2; ++side) branches_.push_back({enclosing, side, depth, pred});
}

bool Branches::is_inside(int branch, int outer) const {
  while (branches_[static_cast<size_t>(branch)].depth >
         branches_[static_cast<size_t>(outer)].depth) {
    ++pass_work_count();
    branch = enclosing(branch);
  }
  return branch == outer;
}

int Branches::inner_branch(int a, int b, const NodeDef& node) const {
  if (is_inside(a, b)) return a;
  if (is_inside(b, a)) return b;
  fail(Code::kUnimplemented, "Node '", node.name, "' (", node.op,
       ") of the GraphDef uses values from different branches of a conditional.");
}

void Branches::assign(const NodeDef& node) {
  if (is_merge(node)) return assign_merge(node);
  int branch = 0;
  for (const std::string& input : node.inputs) {
    branch = inner_branch(branch, branch_of_input(input), node);
  }
  branch_of_node_[&node] = branch;
  if (!is_switch(node)) return;
  if (node.inputs.size() < 2 || is_control_input(node.inputs[1])) {
    fail(Code::kDataLoss, "Switch '", node.name, "' of the GraphDef has no predicate.");
  }
  add_conditional(branch, root_predicate(node));
}

void Branches::assign_merge(const NodeDef& node) {
  std::vector<int> sides;
  int control_branch = 0;
  for (const std::string& input : node.inputs) {
    if (is_control_input(input)) {
      control_branch = inner_branch(control_branch, branch_of_input(input), node);
    } else {
      sides.push_back(branch_of_input(input));
    }
  }
  const bool joins_branches = sides.size() == 2 && sides[0] != 0 && sides[1] != 0 &&
                              enclosing(sides[0]) == enclosing(sides[1]) &&
                              pred(sides[0]) == pred(sides[1]) && side(sides[0]) != side(sides[1]);
  if (!joins_branches) {
    fail(Code::kUnimplemented, "Merge '", node.name,
         "' of the GraphDef does not join the two branches of one conditional.");
  }
  branch_of_node_[&node] = inner_branch(enclosing(sides[0]), control_branch, node);
}

std::vector<const NodeDef*> Branches::nodes_needed_by(const std::string& input, int branch) const {
  std::set<size_t> found;  // positions in the topological order
  std::vector<std::string> pending = {input};
  while (!pending.empty()) {
    const auto at = positions_.find(node_of_input(pending.back()));
    pending.pop_back();
    ++pass_work_count();
    if (at == positions_.end()) continue;
    const NodeDef& node = *order_[at->second];
    if (!is_inside(branch_of(node), branch) || !found.insert(at->second).second) continue;
    pending.insert(pending.end(), node.inputs.begin(), node.inputs.end());
  }
  std::vector<const NodeDef*> ordered;
  for (const size_t position : found) ordered.push_back(order_[position]);
  return ordered;
}

}  // namespace runhooks
