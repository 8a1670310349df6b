#include "trees/threshold_search.h"

#include <limits>

namespace runhooks {

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
    const LeafWorth left = leaf_worth(left_g, left_h, rules.by);
    const LeafWorth right = leaf_worth(g - left_g, h - left_h, rules.by);
    if (!is_larger_gain(left.gain + right.gain, best_gain)) continue;
    best_gain = left.gain + right.gain;
    *best = {static_cast<int32_t>(b), 0, left.value, right.value};
  }
  best->gain = best_gain - leaf_worth(g, h, rules.by).gain - rules.tree_complexity;
  return true;
}

}  // namespace runhooks
