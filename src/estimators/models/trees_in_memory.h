// TreesInMemory: grows trees on rows that are all in memory and binned once.
#pragma once

#include <vector>

#include "estimators/models/tree_features.h"
#include "session/run_hook.h"
#include "trees/growth.h"
#include "trees/in_memory_trees.h"
#include "trees/lower_in_memory.h"

namespace runhooks {

// Endpoint that exists if every step reads all rows in the same order.
extern const char* const kSameRows;
bool has_same_rows(const Graph& graph);

// The number of the column of each feature.
std::vector<int64_t> predictors_of(const std::vector<TreeFeature>& features);

class TreesInMemory {
 public:
  struct Rules {
    double l1, l2, tree_complexity, min_node_weight, learning_rate;
    int64_t max_depth;
    Pruning pruning;
    bool from_formula;
    double sample_size;
    int64_t mtry, seed;
  };

  TreesInMemory(const std::vector<TreeFeature>& features,
                const TreeInput& input,
                const Output& ensemble,
                const TreesKind& kind)
      : features_(features), input_(input), ensemble_(ensemble), kind_(kind) {}

  // The logits of the current trees. `ready` tells whether bucket boundaries are known. With
  // several processes, one collective step bins the rows of all before the first logits or, if
  // `is_logistic`, the first loss.
  Output logits(Graph& graph, const Output& ready, bool is_logistic);
  // The mean logistic loss and its derivatives; also stores the labels.
  Output logistic_loss(Graph& graph, const Output& labels);
  const LogisticDerivatives& logistic_by_logits() const { return logistic_; }
  // Bins the rows in the first step in which that is possible.
  HookPtr hook() const;
  Operation* grow(Graph& graph,
                  const Output& gradients,
                  const Output& hessians,
                  const Rules& rules);

 private:
  Operation* add_fill(Graph& graph, const Output& ready, const std::vector<int64_t>& groups) const;

  const std::vector<TreeFeature>& features_;
  const TreeInput& input_;
  Output ensemble_, data_;
  TreesKind kind_;
  std::vector<Operation*> fill_ops_;  // ops that store the constant inputs
  LogisticDerivatives logistic_;
};

// Throws unless the model has so many predictors and its rows are in memory.
void check_sampling(const TreesInMemory::Rules& rules,
                    const std::vector<TreeFeature>& features,
                    bool is_in_memory);

}  // namespace runhooks
