// Branches: finds the nodes of a GraphDef between the Switches and the Merge of a tf.cond.
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
// The node name of an input: "a" for "a:1" and "^a".
std::string node_of_input(const std::string& input);
std::string with_output_index(const std::string& input);

// TensorFlow 1.x writes a conditional as dataflow: a Switch forwards its value to one of two
// outputs, and a Merge takes the value that arrives. A branch contains the nodes that depend on one
// output of the Switches of a predicate. Branches nest; 0 is the top level.
class Branches {
 public:
  // `order` is topological: inputs precede their consumers. Other nodes count as top level.
  explicit Branches(const std::vector<const NodeDef*>& order);

  int of(const NodeDef& node) const;
  // The branch of tensor "name:0" or of control input "^name".
  int of_input(const std::string& input) const;
  // The enclosing branch, and the side (0 or 1) of this one.
  int enclosing(int branch) const { return all_[static_cast<size_t>(branch)].enclosing; }
  int side(int branch) const { return all_[static_cast<size_t>(branch)].side; }
  const std::string& pred(int branch) const { return all_[static_cast<size_t>(branch)].pred; }

  // The nodes of the branch, including nested ones, that the input needs, in order.
  std::vector<const NodeDef*> needed(const std::string& input, int branch) const;

 private:
  struct Branch {
    int enclosing = 0, side = 0, depth = 0;
    std::string pred;
  };
  void add(const NodeDef& node);
  void add_merge(const NodeDef& node);
  const NodeDef* find(const std::string& name) const;
  void find_root(const NodeDef& node);
  int inside(int enclosing, const std::string& pred, int side);
  bool is_inside(int branch, int of) const;
  int innermost_of(int a, int b, const NodeDef& node) const;
  std::string pred_of(const NodeDef& node) const;

  const std::vector<const NodeDef*>& order_;
  std::unordered_map<std::string_view, size_t> places_;  // index of each node in the order, by name
  std::unordered_map<std::string, std::string> roots_;  // of predicates
  std::unordered_map<const NodeDef*, int> of_;
  std::map<std::pair<int, std::string>, int> first_sides_;  // side 0; side 1 follows
  std::vector<Branch> all_;
};

}  // namespace runhooks
