#include "import/branches.h"

#include <algorithm>
#include <set>

#include "base/interrupt.h"
#include "base/complexity_counter.h"
#include "base/status.h"

namespace runhooks {

namespace {

constexpr int kDeepest = 50;  // limits the nesting depth that a file can request

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

Branches::Branches(const std::vector<const NodeDef*>& order) : order_(order), all_(1) {
  for (size_t i = 0; i < order.size(); ++i) {
    check_interrupt();
    places_[order[i]->name] = i;
  }
  for (const NodeDef* node : order) {
    check_interrupt();
    find_root(*node);
    add(*node);
  }
}

const NodeDef* Branches::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : order_[found->second];
}

int Branches::of(const NodeDef& node) const {
  const auto found = of_.find(&node);
  return found == of_.end() ? 0 : found->second;
}

int Branches::of_input(const std::string& input) const {
  const NodeDef* found = find(node_of_input(input));
  if (!found) return 0;
  const NodeDef& node = *found;
  if (!is_switch(node) || is_control_input(input)) return of(node);
  const auto sides = first_sides_.find({of(node), pred_of(node)});
  const std::string full = with_output_index(input), index = full.substr(full.rfind(':'));
  if (index != ":0" && index != ":1") {
    fail(Code::kDataLoss, "Switch '", node.name, "' of the GraphDef has no output '", index, "'.");
  }
  return sides->second + (index == ":1");
}

// Resolves a predicate through Identity ops, since each tf.cond adds its own. Inputs precede their
// consumers, so the input's root is already known.
void Branches::find_root(const NodeDef& node) {
  ++pass_work_count();
  if (node.op != "Identity" || node.inputs.empty()) return;
  const std::string from = with_output_index(node.inputs[0]);
  const auto root = roots_.find(from);
  roots_[node.name + ":0"] = root == roots_.end() ? from : root->second;
}

std::string Branches::pred_of(const NodeDef& node) const {
  const std::string pred = with_output_index(node.inputs[1]);
  const auto root = roots_.find(pred);
  return root == roots_.end() ? pred : root->second;
}

int Branches::inside(int enclosing, const std::string& pred, int side) {
  const auto [found, is_new] =
      first_sides_.emplace(std::make_pair(enclosing, pred), static_cast<int>(all_.size()));
  if (is_new) {
    const int depth = all_[static_cast<size_t>(enclosing)].depth + 1;
    if (depth > kDeepest) {
      fail(Code::kUnimplemented, "The GraphDef nests conditionals ", depth,
           " levels deep, which is not supported.");
    }
    for (int i = 0; i < 2; ++i) all_.push_back({enclosing, i, depth, pred});
  }
  return found->second + side;
}

bool Branches::is_inside(int branch, int of) const {
  while (all_[static_cast<size_t>(branch)].depth > all_[static_cast<size_t>(of)].depth) {
    ++pass_work_count();
    branch = enclosing(branch);
  }
  return branch == of;
}

int Branches::innermost_of(int a, int b, const NodeDef& node) const {
  if (is_inside(a, b)) return a;
  if (is_inside(b, a)) return b;
  fail(Code::kUnimplemented, "Node '", node.name, "' (", node.op,
       ") of the GraphDef uses values from different branches of a conditional.");
}

void Branches::add(const NodeDef& node) {
  if (is_merge(node)) return add_merge(node);
  int branch = 0;
  for (const std::string& input : node.inputs) branch = innermost_of(branch, of_input(input), node);
  of_[&node] = branch;
  if (!is_switch(node)) return;
  if (node.inputs.size() < 2 || is_control_input(node.inputs[1])) {
    fail(Code::kDataLoss, "Switch '", node.name, "' of the GraphDef has no predicate.");
  }
  inside(branch, pred_of(node), 0);
}

void Branches::add_merge(const NodeDef& node) {
  std::vector<int> sides;
  int waits = 0;
  for (const std::string& input : node.inputs) {
    if (is_control_input(input)) {
      waits = innermost_of(waits, of_input(input), node);
    } else {
      sides.push_back(of_input(input));
    }
  }
  const bool fits = sides.size() == 2 && sides[0] != 0 && sides[1] != 0 &&
                    enclosing(sides[0]) == enclosing(sides[1]) &&
                    pred(sides[0]) == pred(sides[1]) && side(sides[0]) != side(sides[1]);
  if (!fits) {
    fail(Code::kUnimplemented, "Merge '", node.name,
         "' of the GraphDef does not join the two branches of one conditional.");
  }
  of_[&node] = innermost_of(enclosing(sides[0]), waits, node);
}

std::vector<const NodeDef*> Branches::needed(const std::string& input, int branch) const {
  std::set<size_t> found;  // indices, in order
  std::vector<std::string> open = {input};
  while (!open.empty()) {
    const auto at = places_.find(node_of_input(open.back()));
    open.pop_back();
    ++pass_work_count();
    if (at == places_.end()) continue;
    const NodeDef& node = *order_[at->second];
    if (!is_inside(of(node), branch) || !found.insert(at->second).second) continue;
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
  }
  std::vector<const NodeDef*> ordered;
  for (const size_t place : found) ordered.push_back(order_[place]);
  return ordered;
}

}  // namespace runhooks
