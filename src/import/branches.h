// What lives here: Branches, which nodes of a GraphDef lie between the Switches and the Merge of a tf.cond.
// Who may use it: what imports graphs.
// What it must not know: the graph that nodes become operations of, R.
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
// "a:1" and "^a" are node "a".
std::string node_of_input(const std::string& input);
std::string with_output_index(const std::string& input);

// TensorFlow 1.x writes a conditional as dataflow: Switch lets a value through on one of two sides,
// Merge takes the value of the side that was alive. A branch is what hangs on one side of the
// Switches of a predicate. Branches lie in branches; 0 is outside of all.
class Branches {
 public:
  // `order`: inputs before what uses them. Nodes that are not in it are outside.
  explicit Branches(const std::vector<const NodeDef*>& order);

  int of(const NodeDef& node) const;
  // Of a tensor "name:0" or of what "^name" waits for.
  int of_input(const std::string& input) const;
  // The branch around this one, and which of the two sides it is.
  int around(int branch) const { return all_[static_cast<size_t>(branch)].around; }
  int side(int branch) const { return all_[static_cast<size_t>(branch)].side; }
  // The predicate of a branch.
  const std::string& pred(int branch) const { return all_[static_cast<size_t>(branch)].pred; }

  // The nodes of the branch and those inside of it that this input needs, in order.
  std::vector<const NodeDef*> needed(const std::string& input, int branch) const;

 private:
  struct Branch {
    int around = 0, side = 0, depth = 0;
    std::string pred;
  };
  void add(const NodeDef& node);
  void add_merge(const NodeDef& node);
  const NodeDef* find(const std::string& name) const;
  void find_root(const NodeDef& node);
  int inside(int around, const std::string& pred, int side);
  bool is_inside(int branch, int of) const;
  int deeper(int a, int b, const NodeDef& node) const;
  std::string pred_of(const NodeDef& node) const;

  const std::vector<const NodeDef*>& order_;
  std::unordered_map<std::string_view, size_t> places_;  // of nodes in the order, by name
  std::unordered_map<std::string, std::string> roots_;   // of predicates
  std::unordered_map<const NodeDef*, int> of_;
  std::map<std::pair<int, std::string>, int> first_sides_;  // the two sides lie side by side
  std::vector<Branch> all_;
};

}  // namespace runhooks
