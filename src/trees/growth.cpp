#include "trees/growth.h"

#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "trees/gains.h"

namespace runhooks {

Pruning pruning_from_number(int64_t number) {
  if (number < 0 || number > 2) {
    invalid_argument("pruning_mode must be 0 (none), 1 (pre) or 2 (post), not ", number, ".");
  }
  return static_cast<Pruning>(number);
}

bool BestSplits::is_better(int32_t node, float gain) const {
  const auto found = splits_.find(node);
  return found == splits_.end() || is_larger_gain(gain, found->second.node.gain);
}

namespace {

void check_node(const Tree& tree, int32_t node) {
  const bool is_leaf = node >= 0 && static_cast<size_t>(node) < tree.nodes.size() &&
                       tree.nodes[static_cast<size_t>(node)].is_leaf();
  if (!is_leaf) invalid_argument("Node ", node, " of the last tree is not a leaf.");
}

void begin_tree(TreeEnsemble& ensemble) {
  ensemble.trees.emplace_back();
  ensemble.last_layer_node_start = 0;
  ensemble.last_layer_node_end = 1;
}

bool add_splits(Tree& tree, const BestSplits& best, Pruning pruning) {
  bool has_split = false;
  for (const auto& [node, split] : best.by_node()) {
    if (pruning == Pruning::kPre && split.node.gain < 0) continue;
    check_node(tree, node);
    tree.split(node, split.node, split.left, split.right);
    has_split = true;
  }
  return has_split;
}

void end_tree(TreeEnsemble& ensemble, Pruning pruning) {
  Tree& tree = ensemble.trees.back();
  tree.is_finalized = true;
  if (pruning == Pruning::kPost) post_prune(tree);
  begin_tree(ensemble);
}

// Finishes a tree whose leaves cannot be split. Returns whether it did.
bool end_unsplittable_tree(TreeEnsemble& ensemble, const LayerGrowthOptions& growth) {
  if (ensemble.trees.empty() && growth.finishes_single_roots) begin_tree(ensemble);
  if (ensemble.trees.empty()) return false;
  if (ensemble.trees.back().num_layers_grown == 0 && !growth.finishes_single_roots) return false;
  end_tree(ensemble, growth.pruning);
  return true;
}

}  // namespace

bool grow_layer(TreeEnsemble& ensemble, const BestSplits& best, const LayerGrowthOptions& growth) {
  ++ensemble.stamp;
  if (best.by_node().empty())
    return growth.stop_when_no_split && end_unsplittable_tree(ensemble, growth);
  if (ensemble.trees.empty()) begin_tree(ensemble);
  Tree& tree = ensemble.trees.back();
  if (tree.num_layers_grown == 0) {
    ensemble.num_trees_attempted = ensemble.num_trees();
  }
  ++ensemble.num_layers_attempted;
  const auto start = static_cast<int32_t>(tree.nodes.size());
  if (!add_splits(tree, best, growth.pruning)) return false;
  ensemble.last_layer_node_start = start;
  ensemble.last_layer_node_end = static_cast<int32_t>(tree.nodes.size());
  if (++tree.num_layers_grown == growth.max_depth) end_tree(ensemble, growth.pruning);
  return true;
}

bool center_bias(TreeEnsemble& ensemble, const std::vector<float>& step) {
  constexpr float kMaxSmallRatio = 0.01f;
  // Smaller steps are not large: relative to a bias near 0, even a rounding error would be large.
  constexpr float kMaxRoundingError = 1e-6f;
  ++ensemble.stamp;
  if (ensemble.trees.empty()) {
    begin_tree(ensemble);
    ensemble.trees[0].nodes[0].leaf = step;
    return true;
  }
  TreeNode& root = ensemble.trees[0].nodes[0];
  if (!root.is_leaf()) {
    fail(Code::kFailedPrecondition,
         "The bias cannot be centered after the first tree has started to grow.");
  }
  bool is_large = false;
  root.leaf.resize(std::max(root.leaf.size(), step.size()));
  for (size_t k = 0; k < step.size(); ++k) {
    const bool moves = std::fabs(step[k]) > kMaxRoundingError;
    is_large = is_large || (moves && std::fabs(step[k] / root.leaf[k]) > kMaxSmallRatio);
    root.leaf[k] += step[k];
  }
  return is_large;
}

// --- Pruning

namespace {

class Pruner {
 public:
  explicit Pruner(Tree& tree) : tree_(tree), collapsed_(tree.nodes.size()) {}

  void run() {
    // Children have larger indices than their parents.
    for (size_t i = tree_.nodes.size(); i-- > 0;) collapse_if_useless(static_cast<int32_t>(i));
    if (!has_pruned_) return;
    std::vector<TreeNode> remaining;
    std::vector<int32_t> new_id(tree_.nodes.size(), -1);
    for (size_t i = 0; i < tree_.nodes.size(); ++i) {
      if (i > 0 && new_id[i] == -1) continue;
      new_id[i] = static_cast<int32_t>(remaining.size());
      remaining.push_back(tree_.nodes[i]);
      if (tree_.nodes[i].is_leaf()) continue;
      // Marks the children as reachable; their own iteration sets the id.
      new_id[static_cast<size_t>(tree_.nodes[i].left_id)] = 0;
      new_id[static_cast<size_t>(tree_.nodes[i].right_id)] = 0;
    }
    for (TreeNode& node : remaining) {
      if (node.is_leaf()) continue;
      node.left_id = new_id[static_cast<size_t>(node.left_id)];
      node.right_id = new_id[static_cast<size_t>(node.right_id)];
    }
    record_pruning(new_id, remaining);
    tree_.nodes = std::move(remaining);
  }

 private:
  // Turns a split without gain into a leaf if both children are leaves.
  void collapse_if_useless(int32_t id) {
    TreeNode& node = at(id);
    if (node.is_leaf() || node.gain > 0) return;
    if (!at(node.left_id).is_leaf() || !at(node.right_id).is_leaf()) return;
    for (const int32_t child : {node.left_id, node.right_id}) {
      collapsed_[static_cast<size_t>(child)] = {id, at(child).leaf};
    }
    TreeNode leaf;
    leaf.leaf = node.original_leaf;
    node = std::move(leaf);
    has_pruned_ = true;
  }

  // Sets tree_.pruned, so that cached node ids of training examples stay usable.
  void record_pruning(const std::vector<int32_t>& new_id, const std::vector<TreeNode>& remaining) {
    tree_.pruned.assign(tree_.nodes.size(), {});
    for (size_t i = 0; i < tree_.nodes.size(); ++i) {
      int32_t survivor = static_cast<int32_t>(i);
      while (collapsed_[static_cast<size_t>(survivor)].parent >= 0) {
        survivor = collapsed_[static_cast<size_t>(survivor)].parent;
      }
      PrunedNode& pruned = tree_.pruned[i];
      pruned.new_node_id = new_id[static_cast<size_t>(survivor)];
      const std::vector<float>& new_leaf = remaining[static_cast<size_t>(pruned.new_node_id)].leaf;
      const std::vector<float>& old_leaf = collapsed_[i].leaf;
      pruned.logit_change.assign(std::max({new_leaf.size(), old_leaf.size(), size_t{1}}), 0.0f);
      if (collapsed_[i].parent < 0) continue;
      for (size_t k = 0; k < pruned.logit_change.size(); ++k) {
        pruned.logit_change[k] = leaf_value(new_leaf, k) - leaf_value(old_leaf, k);
      }
    }
  }

  TreeNode& at(int32_t id) { return tree_.nodes[static_cast<size_t>(id)]; }

  // For a removed node: its parent, which became a leaf, and the value that the node had.
  struct Collapsed {
    int32_t parent = -1;
    std::vector<float> leaf;
  };
  Tree& tree_;
  std::vector<Collapsed> collapsed_;  // one element per node
  bool has_pruned_ = false;
};

}  // namespace

void post_prune(Tree& tree) { Pruner(tree).run(); }

}  // namespace runhooks
