// Leaf value and split gain as functions of gradient and hessian sums, as in TensorFlow.
#pragma once

#include <cmath>

namespace runhooks {

// A node is split only if its hessian sum exceeds min_node_weight.
struct SplitCosts {
  double l1 = 0, l2 = 0, tree_complexity = 0, min_node_weight = 0;
  // Whether the hessian sum of each side of a split must exceed min_node_weight, too. An empty side
  // need not, because such a split changes no prediction.
  bool weighs_sides = false;
};

struct GradientSums {
  double gradient = 0, hessian = 0;
};

// If the second derivative of the loss is smaller, the leaf value is 0.
constexpr double kMinCurvature = 1e-15;

// Returns the leaf value that minimizes the quadratic approximation of the penalized loss.
inline double leaf_contribution(const GradientSums& sums, const SplitCosts& costs) {
  const double curvature = sums.hessian + costs.l2;
  if (!(curvature > kMinCurvature)) return 0;
  const double excess = std::abs(sums.gradient) - costs.l1;
  return excess > 0 ? -std::copysign(excess, sums.gradient) / curvature : 0;
}

// Returns twice the reduction of the loss by leaf_contribution().
inline double leaf_gain(const GradientSums& sums, const SplitCosts& costs) {
  const double excess = std::abs(sums.gradient) - costs.l1, curvature = sums.hessian + costs.l2;
  return excess > 0 && curvature > kMinCurvature ? excess * excess / curvature : 0;
}

}  // namespace runhooks
