// The part of a tree model's graph that all modes share: ensemble, features and predictions.
#pragma once

#include <string>
#include <vector>

#include "estimators/heads/head.h"
#include "estimators/models/tree_features.h"
#include "graph/variable.h"

namespace runhooks {

// TensorFlow's name for the ensemble, and the scope of related ops.
inline constexpr char kTrees[] = "boosted_trees";

std::vector<std::string> missing_features(const Args& args);

struct TreeModel {
  std::vector<ColumnPtr> columns;
  std::vector<TreeFeature> features;
  TreeInput input;
  Output ensemble;

  TreeModel(Graph& graph, const Features& input_features, const Args& args, double epsilon);
};

// Adds a boolean variable with the initial value `value`.
VariablePtr add_flag(Graph& graph, const std::string& name, bool value);

// Returns the logits. `trees` is the number of trees to use, or 0 for all; `logits` is the number
// of logits.
Output predicted_logits(Graph& graph, const TreeModel& model, int64_t logits, int64_t trees);

// Returns the contribution of each column to the predictions: for each logit, first the bias and
// then the columns.
Output contributions(Graph& graph, const TreeModel& model, const Head& head);

// Converts contributions from standardized to original label units.
Output to_label_units(Graph& graph, Output contributions, const Args& model_args, int64_t logits);

}  // namespace runhooks
