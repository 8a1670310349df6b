// What lives here: TreesInMemory, a model of trees whose input holds all rows in each step: they are put into bins once.
// Who may use it: estimators of trees.
// What it must not know: heads, how trees grow, R.
#pragma once

#include <vector>

#include "estimators/tree_features.h"
#include "session/run_hook.h"
#include "trees/growth.h"
#include "trees/lower_in_memory.h"

namespace runhooks {

// Where all rows come in each step, in one order.
extern const char* const kSameRows;
bool has_same_rows(const Graph& graph);

class TreesInMemory {
 public:
  struct Rules {
    double l1, l2, tree_complexity, min_node_weight, learning_rate;
    int64_t max_depth;
    Pruning pruning;
    bool stop_when_no_split;
  };

  TreesInMemory(const std::vector<TreeFeature>& features,
                const TreeInput& input,
                const Output& ensemble)
      : features_(features), input_(input), ensemble_(ensemble) {}

  // By the trees as they are. `ready` says whether the boundaries of buckets are known. Of several
  // processes one step puts the rows of all into bins, before any asks for the first logits or for
  // their loss (`is_logistic`).
  Output logits(Graph& graph, const Output& ready, bool is_logistic);
  // The mean logistic loss, with what it changes by, of rows whose labels are kept as well.
  Output logistic_loss(Graph& graph, const Output& labels);
  const LogisticDerivatives& logistic_by_logits() const { return logistic_; }
  // Puts the rows into bins in the first step in which that can be.
  HookPtr hook() const;
  Operation* grow(Graph& graph, const Output& gradients, const Output& hessians, const Rules& rules);

 private:
  Operation* add_fill(Graph& graph,
                      const Output& ready,
                      const std::vector<int64_t>& groups) const;

  const std::vector<TreeFeature>& features_;
  const TreeInput& input_;
  Output ensemble_, data_;
  std::vector<Operation*> fill_;  // with what is the same in each step
  LogisticDerivatives logistic_;
};

}  // namespace runhooks
