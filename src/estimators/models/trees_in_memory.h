// InMemoryTreeBuilder: builds a graph that grows trees on rows in memory, which are binned once.
#pragma once

#include <vector>

#include "estimators/models/tree_features.h"
#include "session/run_hook.h"
#include "trees/growth.h"
#include "trees/in_memory_trees.h"
#include "trees/lower_in_memory.h"

namespace runhooks {

// The name of an endpoint (a named tensor of the graph), which exists if every step reads all rows
// in the same order.
extern const char* const kSameRows;
bool has_same_rows(const Graph& graph);

// Returns for each feature the index of its feature column.
std::vector<int64_t> predictors_of(const std::vector<TreeFeature>& features);

class InMemoryTreeBuilder {
 public:
  struct Rules {
    double l1, l2, tree_complexity, min_node_weight, learning_rate;
    int64_t max_depth;
    Pruning pruning;
    bool from_formula;
    double sample_size;
    int64_t mtry, seed;
  };

  InMemoryTreeBuilder(const std::vector<TreeFeature>& features,
                      const TreeInput& input,
                      const Output& ensemble,
                      const InMemoryTreeOptions& options)
      : features_(features), input_(input), ensemble_(ensemble), options_(options) {}

  // Adds the logits of the current trees. `ready` is a flag tensor: whether the bucket boundaries
  // have been computed. Each distributed step has one op that all processes run together: the loss
  // if `is_logistic`, otherwise the logits.
  Output logits(Graph& graph, const Output& ready, bool is_logistic);
  // Adds the mean logistic loss. Also stores the labels and sets logistic_gradients().
  Output logistic_loss(Graph& graph, const Output& labels);
  const LogisticDerivatives& logistic_gradients() const { return logistic_derivatives_; }
  // Returns a hook that bins the rows as soon as the bucket boundaries are ready.
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
  InMemoryTreeOptions options_;
  std::vector<Operation*> fill_ops_;  // ops that bin the rows and store the labels
  LogisticDerivatives logistic_derivatives_;
};

// Throws if `mtry` exceeds the number of predictors, or if the rows are not in memory.
void check_sampling(const InMemoryTreeBuilder::Rules& rules,
                    const std::vector<TreeFeature>& features,
                    bool is_in_memory);

}  // namespace runhooks
