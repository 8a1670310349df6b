#include "trees/ensemble.h"

#include <algorithm>

#include "base/status.h"

namespace runhooks {

namespace {

std::vector<float> sum(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> total(std::max(a.size(), b.size()));
  for (size_t i = 0; i < total.size(); ++i) total[i] = leaf_value(a, i) + leaf_value(b, i);
  return total;
}

bool is_zero(const std::vector<float>& leaf) {
  return std::all_of(leaf.begin(), leaf.end(), [](float x) { return x == 0; });
}

}  // namespace

void Tree::split(int32_t node_id,
                 TreeNode split_node,
                 const std::vector<float>& left,
                 const std::vector<float>& right) {
  const std::vector<float> value = std::move(nodes[static_cast<size_t>(node_id)].leaf);
  TreeNode children[2];
  children[0].leaf = sum(value, left);
  children[1].leaf = sum(value, right);
  split_node.left_id = static_cast<int32_t>(nodes.size());
  split_node.right_id = split_node.left_id + 1;
  split_node.has_metadata = true;
  if (node_id != 0 || !is_zero(value)) {
    split_node.has_original_leaf = true;
    split_node.original_leaf = value;
  }
  nodes[static_cast<size_t>(node_id)] = std::move(split_node);
  for (TreeNode& child : children) nodes.push_back(std::move(child));
}

int32_t TreeEnsemble::num_finalized_trees() const {
  return static_cast<int32_t>(std::count_if(trees.begin(), trees.end(),
                                            [](const Tree& tree) { return tree.is_finalized; }));
}

int32_t TreeEnsemble::max_feature_id() const {
  int32_t largest = -1;
  for (const Tree& tree : trees) {
    for (const TreeNode& node : tree.nodes) {
      if (!node.is_leaf()) largest = std::max(largest, node.feature_id);
    }
  }
  return largest;
}

size_t TreeEnsemble::leaf_size() const {
  size_t largest = 0;
  for (const Tree& tree : trees) {
    for (const TreeNode& node : tree.nodes) {
      largest = std::max({largest, node.leaf.size(), node.original_leaf.size()});
    }
    for (const PrunedNode& node : tree.pruned)
      largest = std::max(largest, node.logit_change.size());
  }
  return largest;
}

void TreeEnsemble::check_fits(int32_t num_features, int32_t logits, std::string_view where) const {
  if (max_feature_id() >= num_features) {
    fail(Code::kDataLoss, "The trees in '", std::string(where), "' use feature ", max_feature_id(),
         ", but the model has only ", num_features, " features, numbered from 0.");
  }
  if (leaf_size() > static_cast<size_t>(logits)) {
    fail(Code::kDataLoss, "The trees in '", std::string(where), "' have leaves with ",
         static_cast<int64_t>(leaf_size()), " values, but the model has ", logits,
         logits == 1 ? " logit." : " logits.");
  }
}

}  // namespace runhooks
