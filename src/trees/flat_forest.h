// What lives here: FlatForest, trees of one logit in a form that answers many rows fast.
// Who may use it: the ops that predict.
// What it must not know: graphs, R.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/ensemble.h"

namespace runhooks {

class FlatForest {
 public:
  // Of trees that ask for buckets up to a threshold and have one logit.
  static bool can_hold(const TreeEnsemble& ensemble);
  explicit FlatForest(const TreeEnsemble& ensemble);
  // Adds what the trees say of rows [first, first + n), tree by tree; features[f] are the buckets of
  // a feature.
  void add(const int32_t* const* features, int64_t first, int64_t n, float* logits) const;

 private:
  // A row goes on to `next`, or the node after it where bucket + shift > threshold as unsigned
  // numbers: by the shift a missing bucket, -1, is the least of all or the largest. A leaf leads to
  // itself.
  struct Node {
    uint32_t threshold = UINT32_MAX, shift = 0;
    int32_t feature = 0, next = 0;
  };
  struct Root {
    int32_t node, depth;
  };

  void add_tree(const Tree& tree);

  std::vector<Node> nodes_;
  std::vector<float> values_;  // of each node
  std::vector<Root> roots_;
};

}  // namespace runhooks
