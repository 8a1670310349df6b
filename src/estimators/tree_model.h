// What lives here: the parts of a graph of boosted trees that all modes have: ensemble, features, answers.
// Who may use it: estimators of trees.
// What it must not know: how trees grow, R.
#pragma once

#include <string>
#include <vector>

#include "estimators/head.h"
#include "estimators/tree_features.h"
#include "graph/variable.h"

namespace runhooks {

// The name that TensorFlow gives to the ensemble, and the scope of what belongs to it.
inline constexpr char kTrees[] = "boosted_trees";

// The columns of numbers of which some are missing, by name.
std::vector<std::string> missing_features(const Args& args);

// The trees and their features.
struct TreeModel {
  std::vector<ColumnPtr> columns;
  std::vector<TreeFeature> features;
  TreeInput input;
  Output ensemble;

  TreeModel(Graph& graph, const Features& given, const Args& args, double epsilon);
};

// What a step may change, true or not.
VariablePtr add_flag(Graph& graph, const std::string& name, bool value);

Output predicted_logits(Graph& graph, const TreeModel& model, int64_t logits);

// What each column contributes to the predictions, behind the bias, of each logit after another.
Output contributions(Graph& graph, const TreeModel& model, const Head& head);

// The same in the units of the labels, where these were standardized.
Output in_label_units(Graph& graph, Output parts, const Args& given, int64_t logits);

}  // namespace runhooks
