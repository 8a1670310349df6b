// Tests the compiled forms of trees: compares their predictions with those of traversing the nodes.
#include "trees/forest.h"

#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

#include "test.h"
#include "trees/byte_forest.h"
#include "trees/flat_forest.h"

using namespace runhooks;

namespace {

constexpr int32_t kFeatures = 5;

// Returns a tree with random splits. Each split has one of `thresholds` possible thresholds.
Tree random_tree(std::mt19937& random, uint32_t thresholds) {
  Tree tree;
  tree.weight = random() % 2 ? 1.0f : 0.3f;
  tree.nodes[0].leaf = {static_cast<float>(random() % 100) / 7};
  const uint32_t splits = random() % 20;
  for (uint32_t i = 0; i < splits; ++i) {
    const auto node = static_cast<int32_t>(random() % tree.nodes.size());
    if (!tree.nodes[static_cast<size_t>(node)].is_leaf()) continue;
    TreeNode question;
    question.kind = TreeNode::Kind::kBucketized;
    question.feature_id = static_cast<int32_t>(random() % kFeatures);
    question.threshold = static_cast<int32_t>(random() % thresholds) - 1;
    question.missing_goes_right = random() % 2;
    tree.split(node, question, {static_cast<float>(random() % 50) - 25},
               {static_cast<float>(random() % 50) - 25});
  }
  return tree;
}

float walked(const TreeEnsemble& ensemble, const std::vector<std::vector<int32_t>>& buckets,
             size_t row) {
  float logit = 0;
  for (const Tree& tree : ensemble.trees) {
    const TreeNode* node = &tree.nodes[0];
    while (!node->is_leaf()) {
      const int32_t bucket = buckets[static_cast<size_t>(node->feature_id)][row];
      node = &tree.nodes[static_cast<size_t>(node->child(bucket))];
    }
    logit += tree.weight * leaf_value(node->leaf, 0);
  }
  return logit;
}

}  // namespace

TEST(forest_matches_a_traversal) {
  const auto seed = static_cast<uint32_t>(std::chrono::system_clock::now().time_since_epoch().count());
  std::printf("forest: seed %u\n", seed);
  std::mt19937 random(seed);
  int fitting = 0;
  for (int round = 0; round < 40; ++round) {
    // Even of 3000 possible thresholds, the trees use only few, so that bytes can encode them.
    const uint32_t thresholds = round % 2 ? 6 : 3000;
    TreeEnsemble ensemble;
    for (uint32_t i = random() % 12; i > 0; --i) {
      ensemble.trees.push_back(random_tree(random, thresholds));
    }
    const size_t rows = 1 + random() % 200;
    std::vector<std::vector<int32_t>> buckets(kFeatures);
    std::vector<const int32_t*> columns;
    for (auto& column : buckets) {
      for (size_t i = 0; i < rows; ++i) {
        column.push_back(static_cast<int32_t>(random() % (thresholds + 2)) - 1);
      }
      columns.push_back(column.data());
    }
    const auto check = [&](const Forest& forest) {
      std::vector<float> logits(rows, 0);
      const auto middle = static_cast<int64_t>(rows / 3);
      forest.add(columns.data(), 0, middle, logits.data());
      forest.add(columns.data(), middle, static_cast<int64_t>(rows) - middle, logits.data());
      for (size_t row = 0; row < rows; ++row) CHECK_EQ(logits[row], walked(ensemble, buckets, row));
    };
    CHECK(FlatForest::can_hold(ensemble));
    check(FlatForest(ensemble));
    check(*forest_of(ensemble));
    if (!ByteForest::can_hold(ensemble)) continue;
    ++fitting;
    check(ByteForest(ensemble));
  }
  CHECK(fitting > 0);
}

namespace {

TreeNode question(int32_t threshold) {
  TreeNode node;
  node.kind = TreeNode::Kind::kBucketized;
  node.threshold = threshold;
  return node;
}

// Returns a tree that is a chain of `depth` splits, with consecutive thresholds from `first` on.
Tree chain(int32_t depth, int32_t first) {
  Tree tree;
  tree.nodes[0].leaf = {1};
  for (int32_t i = 0; i < depth; ++i) tree.split(2 * i, question(first + i), {1}, {2});
  return tree;
}

}  // namespace

TEST(forest_detects_ensembles_that_a_form_cannot_represent) {
  TreeEnsemble ensemble;
  ensemble.trees.emplace_back();
  ensemble.trees[0].nodes[0].leaf = {1, 2};
  CHECK(!FlatForest::can_hold(ensemble));
  CHECK(!ByteForest::can_hold(ensemble));
  ensemble.trees[0].nodes[0].leaf = {1};
  CHECK(FlatForest::can_hold(ensemble));
  CHECK(ByteForest::can_hold(ensemble));
  TreeNode word;
  word.kind = TreeNode::Kind::kCategorical;
  ensemble.trees[0].split(0, word, {1}, {2});
  CHECK(!FlatForest::can_hold(ensemble));
  CHECK(!ByteForest::can_hold(ensemble));
  CHECK(!forest_of(ensemble));

  ensemble.trees = {chain(kMaxByteTreeDepth, 0)};
  CHECK(ByteForest::can_hold(ensemble));
  ensemble.trees = {chain(kMaxByteTreeDepth + 1, 0)};
  CHECK(!ByteForest::can_hold(ensemble));
  CHECK(FlatForest::can_hold(ensemble));

  // A byte can encode 255 thresholds of a feature; one more is too many.
  ensemble.trees.clear();
  for (int32_t i = 0; i < 51; ++i) ensemble.trees.push_back(chain(5, 5 * i));
  CHECK(ByteForest::can_hold(ensemble));
  ensemble.trees.push_back(chain(1, 255));
  CHECK(!ByteForest::can_hold(ensemble));
}
