// TreeEnsemble: the trees of a model, and their serialization in TensorFlow's format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runhooks {

struct TreeNode {
  enum class Kind : uint8_t {
    kLeaf,
    kBucketized,   // left if bucket <= threshold
    kCategorical,  // left if bucket == threshold
  };
  Kind kind = Kind::kLeaf;
  // Where examples with bucket kMissingBucket go (default_direction in TensorFlow).
  bool missing_goes_right = false;
  bool has_metadata = false;  // `gain` is set
  bool has_original_leaf = false;
  int32_t feature_id = 0;
  int32_t threshold = 0;
  int32_t dimension_id = 0;  // the column of a multi-column feature
  int32_t left_id = 0, right_id = 0;
  float gain = 0;
  // The value of a leaf for each logit; missing trailing values are 0.
  std::vector<float> leaf;
  // The value before the leaf was split.
  std::vector<float> original_leaf;

  bool is_leaf() const { return kind == Kind::kLeaf; }
  int32_t child(int32_t bucket) const {
    if (bucket < 0) return missing_goes_right ? right_id : left_id;
    const bool left = kind == Kind::kCategorical ? bucket == threshold : bucket <= threshold;
    return left ? left_id : right_id;
  }
};

// The bucket of a missing value. TensorFlow has no such bucket.
constexpr int32_t kMissingBucket = -1;

inline float leaf_value(const std::vector<float>& leaf, size_t dimension) {
  return dimension < leaf.size() ? leaf[dimension] : 0.0f;
}

// The node that now contains the examples of a pruned node, and the change of their logits.
struct PrunedNode {
  int32_t new_node_id = 0;
  std::vector<float> logit_change;
};

struct Tree {
  std::vector<TreeNode> nodes = std::vector<TreeNode>(1);  // node 0 is the root
  float weight = 1;
  int32_t num_layers_grown = 0;
  bool is_finalized = false;
  // By node number before pruning; empty if the tree was not pruned.
  std::vector<PrunedNode> pruned;

  // Replaces a leaf by `split_node` and adds two leaves with its value plus `left` or `right`. The
  // replaced value becomes `original_leaf`, except for a root of value 0.
  void split(int32_t node_id,
             TreeNode split_node,
             const std::vector<float>& left,
             const std::vector<float>& right);
};

class TreeEnsemble {
 public:
  std::vector<Tree> trees;
  int64_t num_trees_attempted = 0, num_layers_attempted = 0;
  // Nodes of the last tree that the next layer may split, [start, end).
  int32_t last_layer_node_start = 0, last_layer_node_end = 1;
  // Counts changes of the ensemble. Checkpoints store it apart from the trees.
  int64_t stamp = 0;

  int32_t num_trees() const { return static_cast<int32_t>(trees.size()); }
  int32_t num_finalized_trees() const;
  int32_t max_feature_id() const;
  // Returns the number of logits in a leaf; 0 if all leaves are empty.
  size_t leaf_size() const;

  // Returns TensorFlow's message boosted_trees.TreeEnsemble, without the stamp.
  std::string serialize() const;
  // Parses and validates the message. Throws kDataLoss if it is invalid; the error names `where`.
  static TreeEnsemble parse(std::string_view bytes, std::string_view where);
  // Throws kDataLoss unless features and leaves fit the model; parse() checks everything else.
  void check_fits(int32_t num_features, int32_t logits, std::string_view where) const;
};

}  // namespace runhooks
