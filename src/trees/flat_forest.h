// FlatForest: trees of any depth whose nodes are packed into one integer each.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/forest.h"

namespace runhooks {

class FlatForest : public Forest {
 public:
  // True if all splits compare with a threshold and all leaves have one logit.
  static bool can_hold(const TreeEnsemble& ensemble);
  explicit FlatForest(const TreeEnsemble& ensemble);

 private:
  // A node is one 64-bit load: the index of the left child (32 bits; the right child follows it),
  // the threshold (16) and the feature's slot in a block (16). Buckets are shifted by 1, so missing
  // values are 0, or UINT16_MAX in a second slot of the feature. A leaf is its own child.
  using Node = uint64_t;
  struct Root {
    int32_t node, depth;
  };

  void add_tree(const Tree& tree);
  uint16_t slot_for(const TreeNode& node);
  size_t block_bytes() const override;
  void add_block(const int32_t* const* features,
                 int64_t begin,
                 int64_t n,
                 void* block,
                 float* sums) const override;
  // Adds the leaf that each row of the block reaches in each tree.
  void traverse(const uint16_t* block, float* sums) const;

  std::vector<Node> nodes_;
  std::vector<float> values_;  // leaf values, by index of the node
  std::vector<Root> roots_;
  struct Slot {
    int32_t feature;
    bool missing_is_last;
  };
  std::vector<Slot> slots_;
  std::vector<int32_t> slot_of_;  // index into slots_ for each split_key(); -1 if unused
};

}  // namespace runhooks
