#include "trees/threshold_search.h"

#include <limits>

namespace runhooks {

namespace {

bool is_too_light(float h, float min_weight) { return h > 0 && h < min_weight; }

}  // namespace

bool best_threshold(const float* stats,
                    int64_t buckets,
                    const SplitRules& rules,
                    ThresholdSplit* best) {
  float g = 0, h = 0;
  for (int64_t b = 0; b < buckets; ++b) {
    g += stats[b * 2];
    h += stats[b * 2 + 1];
  }
  if (h < rules.min_node_weight || buckets == 0) return false;
  float best_gain = std::numeric_limits<float>::lowest(), left_g = 0, left_h = 0;
  for (int64_t b = 0; b < buckets; ++b) {
    left_g += stats[b * 2];
    left_h += stats[b * 2 + 1];
    if (rules.weighs_sides && (is_too_light(left_h, rules.min_node_weight) ||
                               is_too_light(h - left_h, rules.min_node_weight))) {
      continue;
    }
    const OptimalLeaf left = optimal_leaf(left_g, left_h, rules.regularization);
    const OptimalLeaf right = optimal_leaf(g - left_g, h - left_h, rules.regularization);
    if (!is_larger_gain(left.gain + right.gain, best_gain)) continue;
    best_gain = left.gain + right.gain;
    *best = {static_cast<int32_t>(b), 0, left.value, right.value, left_h == 0, h == left_h};
  }
  if (best_gain == std::numeric_limits<float>::lowest()) return false;
  best->gain = best_gain - optimal_leaf(g, h, rules.regularization).gain - rules.tree_complexity;
  return true;
}

}  // namespace runhooks
