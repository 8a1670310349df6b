// FlatForest, trees of any depth whose nodes are a number each.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/forest.h"

namespace runhooks {

class FlatForest : public Forest {
 public:
  // Of trees that ask for buckets up to a threshold and have one logit.
  static bool can_hold(const TreeEnsemble& ensemble);
  explicit FlatForest(const TreeEnsemble& ensemble);

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
  size_t block_bytes() const override;
  void add_block(const int32_t* const* features,
                 int64_t begin,
                 int64_t n,
                 void* block,
                 float* sums) const override;
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
