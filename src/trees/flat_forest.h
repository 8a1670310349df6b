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
  // A node is one number, which one load brings: where a row goes on (32 bits; the node after it
  // where its bucket is above), the threshold (16) and the place of the feature in a block (16).
  // Buckets count from 1 there; what is missing is 0, or the largest of all in a second place of the
  // feature. A leaf leads to itself.
  using Node = uint64_t;
  struct Root {
    int32_t node, depth;
  };

  void add_tree(const Tree& tree);
  uint16_t place_of(const TreeNode& node);
  void fill_block(const int32_t* const* features, int64_t begin, int64_t n, uint16_t* block) const;
  void walk(const uint16_t* block, float* sums) const;

  std::vector<Node> nodes_;
  std::vector<float> values_;  // of each node
  std::vector<Root> roots_;
  struct Asked {
    int32_t feature;
    bool missing_is_most;
  };
  std::vector<Asked> asked_;      // by place
  std::vector<int32_t> places_;   // two of each feature; -1: not asked
};

}  // namespace runhooks
