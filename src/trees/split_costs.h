// What a leaf's value and a split's gain are, TensorFlow's formulas.
#pragma once

#include <cmath>

namespace runhooks {

// A node is split where its hessians are more than min_node_weight.
struct SplitCosts {
  double l1 = 0, l2 = 0, tree_complexity = 0, min_node_weight = 0;
};

struct GradientSums {
  double gradient = 0, hessian = 0;
};

// Below this there is no step.
constexpr double kLeastCurvature = 1e-15;

// The step towards the optimum of the loss's second-order form, with l1 and l2 on the leaf.
inline double leaf_contribution(const GradientSums& sums, const SplitCosts& costs) {
  const double curvature = sums.hessian + costs.l2;
  if (!(curvature > kLeastCurvature)) return 0;
  const double excess = std::abs(sums.gradient) - costs.l1;
  return excess > 0 ? -std::copysign(excess, sums.gradient) / curvature : 0;
}

// How much that step lowers the loss, twice.
inline double leaf_gain(const GradientSums& sums, const SplitCosts& costs) {
  const double excess = std::abs(sums.gradient) - costs.l1, curvature = sums.hessian + costs.l2;
  return excess > 0 && curvature > kLeastCurvature ? excess * excess / curvature : 0;
}

}  // namespace runhooks
