// Growing of trees by layers: adding splits, pruning and centering the bias.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trees/ensemble.h"

namespace runhooks {

// Numbered as in TensorFlow. kPre skips splits with negative gain; kPost prunes finished trees.
enum class Pruning { kNone = 0, kPre = 1, kPost = 2 };
Pruning pruning_of(int64_t number);

// A split that replaces a leaf, and its contributions, which include the learning rate.
struct Split {
  TreeNode question;
  std::vector<float> left, right;
};

class BestSplits {
 public:
  // The first of equal splits wins.
  bool is_better(int32_t node, float gain) const;
  void add(int32_t node, Split split) { splits_[node] = std::move(split); }
  const std::map<int32_t, Split>& by_node() const { return splits_; }

 private:
  std::map<int32_t, Split> splits_;
};

struct LayerGrowth {
  int32_t max_depth = 6;
  Pruning pruning = Pruning::kNone;
  // Finish a tree if none of its leaves can be split, unless it is only a root.
  bool stop_when_no_split = false;
  // Finish it even then: other rows or columns may split the next tree.
  bool leaves_roots = false;
};

// Adds a layer to the last unfinished tree. Returns true if it split a leaf or finished a tree.
bool grow_layer(TreeEnsemble& ensemble, const BestSplits& best, const LayerGrowth& growth);

// Adds `step` to the root of the first tree. Returns true if the step was large.
bool center_bias(TreeEnsemble& ensemble, const std::vector<float>& step);

// Collapses splits without gain, from the leaves up.
void post_prune(Tree& tree);

}  // namespace runhooks
