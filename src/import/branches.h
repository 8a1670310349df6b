// Branches: assigns the nodes of a GraphDef to the branches of its conditionals (tf.cond).
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/graphs/graph_def.h"

namespace runhooks {

bool is_switch(const NodeDef& node);
bool is_merge(const NodeDef& node);
bool is_control_input(const std::string& input);
// Returns the node name of an input: "a" for "a:1" and "^a".
std::string node_of_input(const std::string& input);
// Appends the output index ":0" to the name of a tensor that lacks one.
std::string with_output_index(const std::string& input);

// TensorFlow 1.x writes a conditional as dataflow: a Switch forwards its value to one of two
// outputs, depending on its predicate. A Merge takes the value that arrives. A branch contains the
// nodes that depend on one output of the Switches of a predicate. Branches nest; 0 is the top
// level.
class Branches {
 public:
  // `order` is topological: inputs precede their consumers. Nodes outside `order` count as top
  // level.
  explicit Branches(const std::vector<const NodeDef*>& order);

  int branch_of(const NodeDef& node) const;
  // Returns the branch of tensor "name:0" or of control input "^name".
  int branch_of_input(const std::string& input) const;
  // enclosing() returns the branch that contains `branch`. side() returns 0 if `branch` runs when
  // its predicate is FALSE, else 1.
  int enclosing(int branch) const { return branches_[static_cast<size_t>(branch)].enclosing; }
  int side(int branch) const { return branches_[static_cast<size_t>(branch)].side; }
  const std::string& pred(int branch) const { return branches_[static_cast<size_t>(branch)].pred; }

  // Returns the nodes of the branch, including nested branches, that the input depends on, in
  // topological order.
  std::vector<const NodeDef*> nodes_needed_by(const std::string& input, int branch) const;

 private:
  struct Branch {
    int enclosing = 0, side = 0, depth = 0;
    std::string pred;
  };
  void assign(const NodeDef& node);
  void assign_merge(const NodeDef& node);
  const NodeDef* find(const std::string& name) const;
  void record_identity(const NodeDef& node);
  // Adds both branches of a conditional, unless they exist.
  void add_conditional(int enclosing, const std::string& pred);
  bool is_inside(int branch, int outer) const;
  // Returns the inner one of two branches; throws if neither contains the other.
  int inner_branch(int a, int b, const NodeDef& node) const;
  // Returns the predicate of a Switch, without the Identity nodes that forward it.
  std::string root_predicate(const NodeDef& node) const;

  const std::vector<const NodeDef*>& order_;
  std::unordered_map<std::string_view, size_t>
      positions_;  // index of each node in the order, by name
  std::unordered_map<std::string, std::string> root_tensors_;  // root of each Identity
  std::unordered_map<const NodeDef*, int> branch_of_node_;
  std::map<std::pair<int, std::string>, int> first_branches_;  // of side 0; side 1 is the next one
  std::vector<Branch> branches_;
};

}  // namespace runhooks
