// Tests tree ensembles in TensorFlow's serialized form: byte-exact round trips, and errors for
// damaged data.
#include <random>

#include "io/proto/wire.h"
#include "test.h"
#include "trees/ensemble.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

std::string golden_ensemble(const std::string& name) {
  return read_file(golden_folder() + "/boosted/" + name + ".ensemble");
}

const char* const kGoldens[] = {"bt_cls_center_bias",      "bt_cls_default_params", "bt_cls_multi",
                                "bt_reg_complexity_small", "bt_reg_pruning_post",   "bt_reg_pruning_pre",
                                "bt_reg_l1_l2_complexity"};

// Returns an ensemble of a tree with two leaves and a tree with three.
TreeEnsemble small_ensemble() {
  TreeEnsemble ensemble;
  ensemble.trees.resize(2);
  TreeNode question;
  question.kind = TreeNode::Kind::kBucketized;
  question.feature_id = 1;
  question.threshold = 3;
  question.gain = 0.5f;
  ensemble.trees[0].split(0, question, {1}, {-1});
  question.kind = TreeNode::Kind::kCategorical;
  question.missing_goes_right = true;
  ensemble.trees[0].split(1, question, {0.25f}, {-0.25f});
  ensemble.trees[0].num_layers_grown = 2;
  ensemble.trees[0].is_finalized = true;
  ensemble.num_trees_attempted = 1;
  ensemble.num_layers_attempted = 2;
  return ensemble;
}

// Returns the error of parsing these bytes, or "".
std::string error_of(const std::string& bytes) {
  try {
    TreeEnsemble::parse(bytes, "here");
  } catch (const Error& error) {
    CHECK(error.code() == Code::kDataLoss);
    CHECK(error.message().find("here") != std::string::npos);
    return error.message();
  }
  return "";
}

// Checks that each traversal of a tree ends and stays within the tree's nodes.
void walk(const TreeEnsemble& ensemble) {
  for (const Tree& tree : ensemble.trees) {
    for (const int32_t bucket : {-1, 0, 1, 1000}) {
      size_t steps = 0, at = 0;
      while (!tree.nodes.at(at).is_leaf()) {
        at = static_cast<size_t>(tree.nodes[at].child(bucket));
        CHECK(++steps <= tree.nodes.size());
      }
    }
  }
}

}  // namespace

TEST(trees_ensemble_matches_tensorflow_byte_by_byte) {
  for (const char* name : kGoldens) {
    context() = name;
    const std::string bytes = golden_ensemble(name);
    const TreeEnsemble ensemble = TreeEnsemble::parse(bytes, name);
    CHECK(ensemble.num_trees() > 0);
    CHECK(ensemble.serialize() == bytes);
    walk(ensemble);
  }
  CHECK_EQ(TreeEnsemble::parse(golden_ensemble("bt_cls_multi"), "x").leaf_size(), size_t{3});
}

TEST(trees_ensemble_round_trip) {
  const TreeEnsemble ensemble = small_ensemble();
  const std::string bytes = ensemble.serialize();
  const TreeEnsemble again = TreeEnsemble::parse(bytes, "x");
  CHECK(again.serialize() == bytes);
  CHECK(again.trees[0].nodes[1].missing_goes_right);
  CHECK(again.trees[0].nodes[1].kind == TreeNode::Kind::kCategorical);
  CHECK_EQ(again.trees[0].nodes[3].leaf[0], 1.25f);
  CHECK_EQ(again.trees[0].nodes[1].original_leaf[0], 1.0f);
  CHECK(!again.trees[0].nodes[0].has_original_leaf);
  CHECK_EQ(again.num_finalized_trees(), 1);
  CHECK_EQ(again.max_feature_id(), 1);
  CHECK_EQ(TreeEnsemble::parse("", "x").num_trees(), 0);
}

TEST(trees_ensemble_splits_match_buckets) {
  TreeNode node;
  node.kind = TreeNode::Kind::kBucketized;
  node.threshold = 2;
  node.left_id = 1;
  node.right_id = 2;
  CHECK_EQ(node.child(2), 1);
  CHECK_EQ(node.child(3), 2);
  CHECK_EQ(node.child(kMissingBucket), 1);
  node.missing_goes_right = true;
  CHECK_EQ(node.child(kMissingBucket), 2);
  node.kind = TreeNode::Kind::kCategorical;
  CHECK_EQ(node.child(2), 1);
  CHECK_EQ(node.child(1), 2);
}

TEST(trees_ensemble_rejects_invalid_trees) {
  const auto damaged = [](void (*damage)(TreeEnsemble&)) {
    TreeEnsemble ensemble = small_ensemble();
    damage(ensemble);
    return error_of(ensemble.serialize());
  };
  CHECK_EQ(damaged([](TreeEnsemble&) {}), "");
  // Rejects a child that does not exist, is the node itself, or has two parents.
  CHECK(damaged([](TreeEnsemble& e) { e.trees[0].nodes[0].right_id = 5; }) != "");
  CHECK(damaged([](TreeEnsemble& e) { e.trees[0].nodes[1].left_id = 1; }) != "");
  CHECK(damaged([](TreeEnsemble& e) { e.trees[0].nodes[1].left_id = 0; }) != "");
  CHECK(damaged([](TreeEnsemble& e) { e.trees[0].nodes[1].left_id = 2; }) != "");
  CHECK(damaged([](TreeEnsemble& e) { e.trees[0].nodes[1].left_id = -7; }) != "");
  CHECK(damaged([](TreeEnsemble& e) { e.trees[0].nodes[1].feature_id = -1; }) != "");
  CHECK(damaged([](TreeEnsemble& e) { e.trees[1].nodes.clear(); }) != "");
  CHECK(damaged([](TreeEnsemble& e) { e.trees[0].num_layers_grown = -1; }) != "");
  CHECK(damaged([](TreeEnsemble& e) { e.last_layer_node_end = 2; }) != "");
  CHECK(damaged([](TreeEnsemble& e) { e.last_layer_node_start = 2; }) != "");
  CHECK(damaged([](TreeEnsemble& e) { e.trees[0].pruned = {{9, {1}}}; }) != "");
  // Rejects a last layer that has already been split.
  CHECK(damaged([](TreeEnsemble& e) { std::swap(e.trees[0], e.trees[1]); }) != "");
  // Rejects different numbers of weights and trees.
  CHECK(error_of(WireWriter().put_bytes(1, "\x0a\x02\x0a\x00").bytes()) != "");
  // Rejects an empty node, a node that splits categorical values, and a sparse leaf.
  CHECK(error_of(std::string("\x0a\x02\x0a\x00", 4)) != "");
  CHECK(error_of(std::string("\x0a\x04\x0a\x02\x22\x00", 6)) != "");
  CHECK(error_of(std::string("\x0a\x06\x0a\x04\x0a\x02\x12\x00", 8)) != "");

  const TreeEnsemble ensemble = small_ensemble();
  ensemble.check_fits(2, 1, "x");
  for (const auto& [features, logits] : {std::pair{1, 1}, std::pair{2, 0}}) {
    bool failed = false;
    try {
      ensemble.check_fits(features, logits, "x");
    } catch (const Error&) {
      failed = true;
    }
    CHECK(failed);
  }
}

// Changes each single byte, truncates at each position, and makes several changes. The reader
// accepts or rejects the result.
TEST(trees_ensemble_is_read_or_rejected) {
  const std::string small = small_ensemble().serialize();
  const auto read = [](const std::string& bytes) {
    if (error_of(bytes).empty()) walk(TreeEnsemble::parse(bytes, "here"));
  };
  for (size_t i = 0; i < small.size(); ++i) {
    read(small.substr(0, i));
    std::string changed = small;
    for (int value = 0; value < 256; ++value) {
      changed[i] = static_cast<char>(value);
      read(changed);
    }
  }
  const std::string large = golden_ensemble("bt_reg_pruning_post");
  std::mt19937_64 random(20261123);
  for (int i = 0; i < 3000; ++i) {
    std::string changed = large;
    for (uint64_t n = 1 + random() % 4; n > 0; --n) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    read(changed);
  }
}
