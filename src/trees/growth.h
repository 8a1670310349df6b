// How trees grow by a layer: the best split of each node put into the last tree, pruning, the bias.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trees/ensemble.h"

namespace runhooks {

// As TensorFlow numbers them. Before a layer grows: no split that loses. After a tree is finished:
// no branch that loses.
enum class Pruning { kNone = 0, kPre = 1, kPost = 2 };
Pruning pruning_of(int64_t number);

// A question in the place of a leaf, and what its sides add to the leaf's value (times the learning
// rate already).
struct Split {
  TreeNode question;
  std::vector<float> left, right;
};

class BestSplits {
 public:
  // Of equal gains the first one stays.
  bool is_better(int32_t node, float gain) const;
  void add(int32_t node, Split split) { splits_[node] = std::move(split); }
  const std::map<int32_t, Split>& by_node() const { return splits_; }

 private:
  std::map<int32_t, Split> splits_;
};

struct LayerGrowth {
  int32_t max_depth = 6;
  Pruning pruning = Pruning::kNone;
  // A tree whose last leaves cannot be split is finished, unless it has only a root.
  bool stop_when_no_split = false;
};

// Adds a layer to the last tree, or to a new one where that is finished, and says so in what the
// ensemble knows of its growing. Whether there was a split, or a tree has been finished.
bool grow_layer(TreeEnsemble& ensemble, const BestSplits& best, const LayerGrowth& growth);

// Adds a step to the root of the first tree; whether it was a large one.
bool center_bias(TreeEnsemble& ensemble, const std::vector<float>& step);

// Takes away what has gained nothing, from the leaves up.
void post_prune(Tree& tree);

}  // namespace runhooks
