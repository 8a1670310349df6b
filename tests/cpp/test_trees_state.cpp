// Tests checkpoints of trees, quantiles and accumulators. A checkpoint with an
// invalid value is rejected, and the resource keeps its state.
#include <random>

#include "ops/state/conditional_accumulator.h"
#include "state_edits.h"
#include "test.h"
#include "trees/ensemble_resource.h"
#include "trees/growth.h"
#include "trees/quantile_resource.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

BestSplits one_split(int32_t node, int32_t feature, float gain) {
  Split split;
  split.node.kind = TreeNode::Kind::kBucketized;
  split.node.feature_id = feature;
  split.node.threshold = 2;
  split.node.gain = gain;
  split.left = {1};
  split.right = {-1};
  BestSplits best;
  best.add(node, split);
  return best;
}

// The state of a training that was stopped within the second layer of its first tree.
class HalfGrown {
 public:
  HalfGrown() {
    auto* trees = static_cast<EnsembleResource*>(stateful_resource(resources, *trees_.handle.op));
    trees->set({});
    grow_layer(trees->ensemble(), one_split(0, 1, 0.5f), {2, Pruning::kNone});
    auto* streams =
        static_cast<QuantileStreams*>(stateful_resource(resources, *quantiles_.handle.op));
    streams->create(0.1, 2, 1000);
    for (size_t i = 0; i < 2; ++i) {
      streams->add(i, QuantileSummary::of({{1.0f, 1.0f}, {2.0f, 1.0f}, {4.0f, 2.0f}}));
    }
    streams->flush(10, false);
    streams->add(0, QuantileSummary::of({{3.0f, 1.0f}, {5.0f, 1.0f}}));
    stateful_resource(resources, *accumulator_.op)
        ->restore_state({{"step", Tensor::scalar<int64_t>(1)},
                         {"count", Tensor::scalar<int64_t>(2)},
                         {"sum", Tensor::vector<float>({1, 2, 3})}});
    all = saveables_in(graph_);
  }
  NamedTensors state() { return saved_by(all, resources); }
  ResourceManager resources;
  std::vector<SaveablePtr> all;

 private:
  Graph graph_;
  EnsembleHandle trees_ = add_ensemble(graph_, "boosted_trees");
  QuantilesHandle quantiles_ = add_quantiles(graph_, "boosted_trees/QuantileAccumulator", 0.1, 2);
  Output accumulator_ = add_accumulator(graph_, Shape{3}, "stats");
};

}  // namespace

TEST(trees_state_has_tensorflows_keys_and_ours) {
  HalfGrown run;
  const NamedTensors state = run.state();
  for (const char* key : {"boosted_trees:0_stamp", "boosted_trees:0_serialized",
                          "boosted_trees/QuantileAccumulator:0_bucket_boundaries_0",
                          "boosted_trees/QuantileAccumulator:0_bucket_boundaries_1",
                          "runhooks/accumulator/conditional_accumulator/sum"}) {
    context() = key;
    CHECK(state.count(key) == 1);
  }
}

TEST(trees_state_round_trip) {
  HalfGrown run;
  const NamedTensors state = run.state();
  ResourceManager fresh;
  restore_saveables(run.all, StateSource(state), fresh);
  CHECK_EQ(text_of(saved_by(run.all, fresh)), text_of(state));
}

TEST(edited_trees_state_is_rejected_or_restored) {
  std::mt19937_64 random(20261123);
  HalfGrown run;
  const NamedTensors before = run.state();
  std::vector<EditedState> edits = single_edits(before, random);
  for (int i = 0; i < 300; ++i) edits.push_back(random_edits(before, random));
  int refused = 0;
  for (const EditedState& edited : edits) {
    context() = edited.description;
    HalfGrown own;
    try {
      restore_saveables(own.all, StateSource(edited.state), own.resources);
    } catch (const Error& error) {
      CHECK(!error.message().empty());
      CHECK_EQ(text_of(own.state()), text_of(before));
      ++refused;
    }
    own.state();  // a restored state can be saved
  }
  CHECK(refused > 20);
}

TEST(missing_trees_state_is_an_error) {
  HalfGrown run;
  for (const char* key : {"boosted_trees:0_stamp", "boosted_trees:0_serialized",
                          "boosted_trees/QuantileAccumulator:0_bucket_boundaries_1"}) {
    context() = key;
    NamedTensors state = run.state();
    state.erase(key);
    bool failed = false;
    try {
      restore_saveables(run.all, StateSource(state), run.resources);
    } catch (const Error& error) {
      failed = error.message().find(key) != std::string::npos;
    }
    CHECK(failed);
  }
}

// --- growing

TEST(trees_grow_layer_by_layer_and_finish) {
  TreeEnsemble ensemble;
  const LayerGrowthOptions growth{2, Pruning::kNone};
  CHECK(grow_layer(ensemble, one_split(0, 0, 1), growth));
  CHECK_EQ(ensemble.last_layer_node_start, 1);
  CHECK_EQ(ensemble.last_layer_node_end, 3);
  CHECK(!grow_layer(ensemble, {}, growth));
  CHECK_EQ(ensemble.num_layers_attempted, 1);
  CHECK(grow_layer(ensemble, one_split(2, 0, 1), growth));
  CHECK_EQ(ensemble.num_trees(), 2);  // the next tree begins
  CHECK_EQ(ensemble.num_finalized_trees(), 1);
  CHECK_EQ(ensemble.trees[0].nodes[4].leaf[0], -2.0f);
  CHECK(TreeEnsemble::parse(ensemble.serialize(), "x").serialize() == ensemble.serialize());
  bool failed = false;
  try {
    grow_layer(ensemble, one_split(7, 0, 1), growth);
  } catch (const Error&) {
    failed = true;
  }
  CHECK(failed);
}

TEST(trees_are_pruned_before_and_after) {
  TreeEnsemble before;
  CHECK(!grow_layer(before, one_split(0, 0, -1), {2, Pruning::kPre}));
  CHECK_EQ(before.trees[0].nodes.size(), size_t{1});
  TreeEnsemble after;
  const LayerGrowthOptions growth{2, Pruning::kPost};
  grow_layer(after, one_split(0, 0, 1), growth);
  grow_layer(after, one_split(1, 0, -1), growth);
  const Tree& tree = after.trees[0];
  CHECK_EQ(tree.nodes.size(), size_t{3});
  CHECK(tree.nodes[1].is_leaf());
  CHECK_EQ(tree.nodes[1].leaf[0], 1.0f);
  // `pruned` maps each old node to the new node that contains its rows.
  CHECK_EQ(tree.pruned.size(), size_t{5});
  CHECK_EQ(tree.pruned[4].new_node_id, 1);
  CHECK_EQ(tree.pruned[4].logit_change[0], 1.0f);
}

TEST(trees_bias_ends_when_it_hardly_moves) {
  TreeEnsemble ensemble;
  CHECK(center_bias(ensemble, {2}));
  CHECK(center_bias(ensemble, {0.5f}));
  CHECK(!center_bias(ensemble, {0.01f}));
  CHECK_NEAR(ensemble.trees[0].nodes[0].leaf[0], 2.51, 1e-6);
  TreeEnsemble nothing;  // the labels are balanced
  CHECK(center_bias(nothing, {0}));
  CHECK(!center_bias(nothing, {0}));
}

TEST(trees_bias_of_nothing_ends) {
  TreeEnsemble trees;
  CHECK(center_bias(trees, {3e-9f}));
  CHECK(!center_bias(trees, {-5e-9f}));
  CHECK(center_bias(trees, {2e-3f}));
}
