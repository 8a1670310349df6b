// What lives here: what a leaf's value and a split's gain are, TensorFlow's formulas.
// Who may use it: whoever chooses splits or sets leaves.
// What it must not know: bins, rows, trees.
#pragma once

#include <cmath>

namespace runhooks {

struct SplitRules {
  double l1 = 0, l2 = 0, tree_complexity = 0, min_node_weight = 0;
};

struct GradientSums {
  double gradient = 0, hessian = 0;
};

// The step towards the optimum of the loss's second-order form, with l1 and l2 on the leaf.
inline double leaf_contribution(const GradientSums& sums, const SplitRules& rules) {
  constexpr double kLeastCurvature = 1e-15;
  const double curvature = sums.hessian + rules.l2;
  if (!(curvature > kLeastCurvature)) return 0;
  const double excess = std::abs(sums.gradient) - rules.l1;
  return excess > 0 ? -std::copysign(excess, sums.gradient) / curvature : 0;
}

// How much that step lowers the loss, twice.
inline double leaf_gain(const GradientSums& sums, const SplitRules& rules) {
  const double excess = std::abs(sums.gradient) - rules.l1;
  return excess > 0 ? -std::copysign(excess, sums.gradient) * leaf_contribution(sums, rules) : 0;
}

}  // namespace runhooks
