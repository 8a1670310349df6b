// TreeEnsemble, the trees of a model as plain values, and TensorFlow's serialized form of them both ways.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runhooks {

// A leaf, or a question about the bucket in which an example's feature lies.
struct TreeNode {
  enum class Kind : uint8_t {
    kLeaf,
    kBucketized,   // to the left where the bucket is `threshold` or less
    kCategorical,  // to the left where the bucket is `threshold`
  };
  Kind kind = Kind::kLeaf;
  // Where an example goes whose bucket is kMissingBucket; TensorFlow's default_direction.
  bool missing_goes_right = false;
  bool has_metadata = false;      // of which `gain` and `original_leaf` are parts
  bool has_original_leaf = false;
  int32_t feature_id = 0;
  int32_t threshold = 0;
  int32_t dimension_id = 0;  // of a feature that has several columns
  int32_t left_id = 0, right_id = 0;
  float gain = 0;
  // Of a leaf, a value for each logit; fewer ones mean zeros.
  std::vector<float> leaf;
  // What it was as a leaf, before it was split.
  std::vector<float> original_leaf;

  bool is_leaf() const { return kind == Kind::kLeaf; }
  int32_t child(int32_t bucket) const {
    if (bucket < 0) return missing_goes_right ? right_id : left_id;
    const bool left = kind == Kind::kCategorical ? bucket == threshold : bucket <= threshold;
    return left ? left_id : right_id;
  }
};

// The bucket of a value that is missing. TensorFlow never has one.
constexpr int32_t kMissingBucket = -1;

// The value of one logit in a leaf.
inline float leaf_value(const std::vector<float>& leaf, size_t dimension) {
  return dimension < leaf.size() ? leaf[dimension] : 0.0f;
}

// Where the examples of a node that pruning has taken away are now, and by how much their logits
// have changed.
struct PrunedNode {
  int32_t new_node_id = 0;
  std::vector<float> logit_change;
};

struct Tree {
  std::vector<TreeNode> nodes = std::vector<TreeNode>(1);  // node 0 is the root
  float weight = 1;
  int32_t num_layers_grown = 0;
  bool is_finalized = false;
  // By the number that a node had before pruning; empty where nothing has been pruned.
  std::vector<PrunedNode> pruned;

  // Makes a leaf a question of its two new children, which begin with the leaf's value and these
  // contributions. A root whose value is zero does not keep it.
  void split(int32_t node_id, TreeNode question, const std::vector<float>& left,
             const std::vector<float>& right);
};

class TreeEnsemble {
 public:
  std::vector<Tree> trees;
  int64_t num_trees_attempted = 0, num_layers_attempted = 0;
  // The nodes of the last tree that the next layer may split, [start, end).
  int32_t last_layer_node_start = 0, last_layer_node_end = 1;
  // How often it has been changed; kept beside the serialized form.
  int64_t stamp = 0;

  int32_t num_trees() const { return static_cast<int32_t>(trees.size()); }
  int32_t num_finalized_trees() const;
  // The largest number of a feature in a split, or -1.
  int32_t max_feature_id() const;
  // How many logits its leaves have; 0 where no leaf has a value.
  size_t leaf_size() const;

  // TensorFlow's boosted_trees.TreeEnsemble, without the stamp.
  std::string serialize() const;
  // Reads and checks one: the numbers of nodes, children, features and leaves, that each tree is
  // one, and what is said of it. What cannot be is a kDataLoss error that names `where`.
  static TreeEnsemble parse(std::string_view bytes, std::string_view where);
  // Throws a kDataLoss error that names `where` unless it can be used with so many features and
  // logits. parse() has checked all else.
  void check_fits(int32_t num_features, int32_t logits, std::string_view where) const;
};

}  // namespace runhooks
