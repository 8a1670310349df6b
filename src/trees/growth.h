// Growing of trees by layers: adding splits, pruning and centering the bias.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trees/ensemble.h"

namespace runhooks {

// Pruning modes, numbered as in TensorFlow. kPre skips splits with negative gain; kPost prunes
// finished trees.
enum class Pruning { kNone = 0, kPre = 1, kPost = 2 };
Pruning pruning_from_number(int64_t number);

// A split node that replaces a leaf. `left` and `right` are added to the value of the leaf to get
// the values of its children; they include the learning rate.
struct Split {
  TreeNode node;
  std::vector<float> left, right;
};

// The best split of each leaf.
class BestSplits {
 public:
  // Whether `gain` beats the current split of the leaf. The first of equal splits wins.
  bool is_better(int32_t node, float gain) const;
  void add(int32_t node, Split split) { splits_[node] = std::move(split); }
  const std::map<int32_t, Split>& by_node() const { return splits_; }

 private:
  std::map<int32_t, Split> splits_;
};

struct LayerGrowthOptions {
  int32_t max_depth = 6;
  Pruning pruning = Pruning::kNone;
  // Whether to finish a tree if none of its leaves can be split, unless it is only a root.
  bool stop_when_no_split = false;
  // Whether to finish also a tree that is only a root: the next tree samples other rows or columns.
  bool finishes_single_roots = false;
};

// Adds a layer to the unfinished tree, which is the last one. Returns true if the layer split a
// leaf or finished the tree.
bool grow_layer(TreeEnsemble& ensemble, const BestSplits& best, const LayerGrowthOptions& growth);

// Adds `step` to the bias, which is the root of the first tree. Returns true if the step was the
// first one or large, so that centering has to continue.
bool center_bias(TreeEnsemble& ensemble, const std::vector<float>& step);

// Collapses splits without gain, from the leaves up.
void post_prune(Tree& tree);

}  // namespace runhooks
