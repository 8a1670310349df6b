#include "trees/flat_forest.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace runhooks {

bool FlatForest::can_hold(const TreeEnsemble& ensemble) {
  for (const Tree& tree : ensemble.trees) {
    for (const TreeNode& node : tree.nodes) {
      if (node.kind == TreeNode::Kind::kCategorical || node.threshold < -1) return false;
      if (node.is_leaf() && node.leaf.size() > 1) return false;
    }
  }
  return true;
}

FlatForest::FlatForest(const TreeEnsemble& ensemble) {
  for (const Tree& tree : ensemble.trees) add_tree(tree);
}

// Layer by layer, the children of a node side by side.
void FlatForest::add_tree(const Tree& tree) {
  const auto first = static_cast<int32_t>(nodes_.size());
  std::vector<std::pair<int32_t, int32_t>> waiting = {{0, 0}};  // nodes of the tree, and how deep
  int32_t depth = 0;
  for (size_t i = 0; i < waiting.size(); ++i) {
    const auto [id, level] = waiting[i];
    const TreeNode& from = tree.nodes[static_cast<size_t>(id)];
    depth = std::max(depth, level);
    Node node;
    if (from.is_leaf()) {
      node.next = static_cast<int32_t>(nodes_.size());
    } else {
      node.shift = from.missing_goes_right ? 0 : 1;
      node.threshold = static_cast<uint32_t>(from.threshold) + node.shift;
      node.feature = from.feature_id;
      node.next = first + static_cast<int32_t>(waiting.size());
      waiting.emplace_back(from.left_id, level + 1);
      waiting.emplace_back(from.right_id, level + 1);
    }
    nodes_.push_back(node);
    values_.push_back(from.is_leaf() ? tree.weight * leaf_value(from.leaf, 0) : 0);
  }
  roots_.push_back({first, depth});
}

void FlatForest::add(const int32_t* const* features,
                     int64_t first,
                     int64_t n,
                     float* logits) const {
  // so many rows are under way at once
  constexpr int64_t kRows = 64;
  for (int64_t begin = first; begin < first + n; begin += kRows) {
    const int64_t count = std::min(kRows, first + n - begin);
    int32_t at[kRows];
    for (const Root& root : roots_) {
      std::fill_n(at, count, root.node);
      for (int32_t level = 0; level < root.depth; ++level) {
        for (int64_t i = 0; i < count; ++i) {
          const Node& node = nodes_[static_cast<size_t>(at[i])];
          const uint32_t bucket = static_cast<uint32_t>(features[node.feature][begin + i]);
          at[i] = node.next + static_cast<int32_t>(bucket + node.shift > node.threshold);
        }
      }
      for (int64_t i = 0; i < count; ++i) {
        logits[begin + i] += values_[static_cast<size_t>(at[i])];
      }
    }
  }
}

}  // namespace runhooks
