#include <algorithm>
#include <cmath>

#include "estimators/models/model_traits.h"
#include "estimators/models/tree_features.h"
#include "r/loop/loop.h"
#include "r/values/guarded_entry.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

SEXP nodes_to_r(const TreeModelView& trees) {
  size_t rows = 0;
  for (const Tree& tree : trees.ensemble.trees) rows += tree.nodes.size();
  const auto n = static_cast<R_xlen_t>(rows);
  const auto logits = std::max<size_t>(1, trees.ensemble.leaf_size());
  Rcpp::IntegerVector tree_id(n), node_id(n), left(n, NA_INTEGER), right(n, NA_INTEGER);
  Rcpp::CharacterVector feature(n, NA_STRING), question(n, NA_STRING);
  Rcpp::NumericVector gain(n, NA_REAL), weight(n), threshold(n, NA_REAL);
  Rcpp::LogicalVector is_leaf(n), missing_goes_left(n, NA_LOGICAL), is_finished(n);
  Rcpp::NumericMatrix value(static_cast<int>(n), static_cast<int>(logits));
  const auto text = [](const std::string& x) { return utf8_element(x); };
  R_xlen_t row = 0;
  for (size_t t = 0; t < trees.ensemble.trees.size(); ++t) {
    const Tree& tree = trees.ensemble.trees[t];
    for (size_t i = 0; i < tree.nodes.size(); ++i, ++row) {
      const TreeNode& node = tree.nodes[i];
      tree_id[row] = static_cast<int>(t) + 1;
      node_id[row] = static_cast<int>(i);
      weight[row] = tree.weight;
      is_leaf[row] = node.is_leaf();
      is_finished[row] = tree.is_finalized;
      const std::vector<float>& leaf = node.is_leaf() ? node.leaf : node.original_leaf;
      for (size_t k = 0; k < logits; ++k) {
        value(static_cast<int>(row), static_cast<int>(k)) = leaf_value(leaf, k);
      }
      if (node.is_leaf()) continue;
      const TreeFeature& split_feature = trees.features.at(static_cast<size_t>(node.feature_id));
      feature[row] = text(split_feature.name);
      question[row] = text(split_feature.left_condition(node.threshold));
      threshold[row] = split_feature.threshold(node.threshold);
      left[row] = node.left_id;
      right[row] = node.right_id;
      gain[row] = node.gain;
      missing_goes_left[row] =
          !node.missing_goes_right && split_feature.sends_missing_left(node.threshold);
    }
  }
  for (double& x : threshold) {
    if (std::isnan(x)) x = NA_REAL;
  }
  return Rcpp::List::create(
      Rcpp::_["tree"] = tree_id, Rcpp::_["node"] = node_id, Rcpp::_["is_leaf"] = is_leaf,
      Rcpp::_["feature"] = feature, Rcpp::_["question"] = question,
      Rcpp::_["threshold"] = threshold, Rcpp::_["left"] = left, Rcpp::_["right"] = right,
      Rcpp::_["gain"] = gain, Rcpp::_["value"] = value, Rcpp::_["weight"] = weight,
      Rcpp::_["missing_goes_left"] = missing_goes_left, Rcpp::_["is_finished"] = is_finished);
}

}  // namespace

// Returns the trees of a tree model in a checkpoint; NULL for other models.
// [[Rcpp::export(rng = false)]]
SEXP cpp_estimator_trees(SEXP spec, Text checkpoint) {
  return guarded_entry([&]() -> SEXP {
    const auto args = args_from_r(spec, "the estimator");
    const ModelTraits& traits = *registered_model(args->text("type")).traits;
    if (!traits.trees) return R_NilValue;
    const auto trees = traits.trees(*args, checkpoint);
    Rcpp::Shield<SEXP> nodes(nodes_to_r(*trees));
    return Rcpp::List::create(
        Rcpp::_["nodes"] = nodes, Rcpp::_["columns"] = Rcpp::wrap(trees->columns()),
        Rcpp::_["gain"] = Rcpp::wrap(importances(*trees, Importance::kGain)),
        Rcpp::_["count"] = Rcpp::wrap(importances(*trees, Importance::kCount)));
  });
}

// Returns the global step at which the model stops training; NA if it does not stop by itself.
// [[Rcpp::export(rng = false)]]
double cpp_estimator_planned_steps(SEXP spec) {
  return guarded_entry([&] {
    const auto args = args_from_r(spec, "the estimator");
    const ModelTraits& traits = *registered_model(args->text("type")).traits;
    return traits.planned_steps ? static_cast<double>(traits.planned_steps(*args)) : NA_REAL;
  });
}
