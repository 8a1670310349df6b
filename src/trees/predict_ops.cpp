#include <algorithm>
#include <memory>
#include <utility>

#include "graph/op_registry.h"
#include "io/proto/wire.h"
#include "trees/ensemble_resource.h"
#include "trees/forest.h"
#include "trees/parallel.h"

namespace runhooks {

namespace {

// The buckets of a batch by feature. Each tensor has one bucket per row.
class Buckets {
 public:
  Buckets(KernelContext& c, int first, int64_t rows) {
    for (int i = first; i < c.num_inputs(); ++i) {
      if (c.input(i).num_elements() != rows) {
        invalid_argument("Feature ", i - first, " has ", c.input(i).num_elements(),
                         " buckets, but the batch has ", rows, " rows.");
      }
      features_.push_back(c.input(i).data<int32_t>());
    }
  }
  int32_t num_features() const { return static_cast<int32_t>(features_.size()); }
  const int32_t* const* columns() const { return features_.data(); }
  int32_t at(int32_t feature, int64_t row) const {
    return features_[static_cast<size_t>(feature)][row];
  }

 private:
  std::vector<const int32_t*> features_;
};

// Returns the value of a leaf, or the value that a split node had before its split.
const std::vector<float>& value_of(const TreeNode& node) {
  return node.is_leaf() ? node.leaf : node.original_leaf;
}

int32_t next_node(const TreeNode& node, const Buckets& buckets, int64_t row) {
  return node.child(buckets.at(node.feature_id, row));
}

const TreeNode& leaf_of(const Tree& tree, const Buckets& buckets, int64_t row) {
  const TreeNode* node = &tree.nodes[0];
  while (!node->is_leaf()) {
    node = &tree.nodes[static_cast<size_t>(next_node(*node, buckets, row))];
  }
  return *node;
}

void add_leaf(const std::vector<float>& leaf, float weight, float* logits) {
  for (size_t k = 0; k < leaf.size(); ++k) logits[k] += weight * leaf[k];
}

const TreeEnsemble& validated_ensemble(KernelContext& c, const Buckets& buckets) {
  const auto& trees = c.input_resource<EnsembleResource>(0);
  trees.check_fits(buckets.num_features(),
                   static_cast<int32_t>(c.op().attr_int("logits_dimension")));
  return trees.ensemble();
}

// Adds the leaf values of the first `n` trees to the logits.
void add_leaves(
    const TreeEnsemble& ensemble, size_t n, const Buckets& buckets, int64_t rows, Tensor& logits) {
  const int64_t width = logits.shape().dim(1);
  auto* out = logits.data<float>();
  parallel_for_range(rows, [&, out](int64_t first, int64_t count) {
    for (int64_t row = first; row < first + count; ++row) {
      for (size_t i = 0; i < n; ++i) {
        const Tree& tree = ensemble.trees[i];
        add_leaf(leaf_of(tree, buckets, row).leaf, tree.weight, out + row * width);
      }
    }
  });
}

class PredictKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t rows = c.input(1).num_elements();
    const Buckets buckets(c, 1, rows);
    const TreeEnsemble& ensemble = validated_ensemble(c, buckets);
    auto* logits = c.output(0).data<float>();
    std::fill(logits, logits + c.output(0).num_elements(), 0.0f);
    if (const Forest* forest = fast_forest_or_null(c.input_resource<EnsembleResource>(0), rows)) {
      constexpr int64_t kChunk = 1 << 10;
      const auto steps = static_cast<int64_t>(ensemble.trees.size()) + 1;
      parallel_for_chunks(rows, kChunk, steps, [&](int64_t first, int64_t n) {
        forest->add(buckets.columns(), first, n, logits);
      });
      return;
    }
    add_leaves(ensemble, ensemble.trees.size(), buckets, rows, c.output(0));
  }

 private:
  // Returns the trees in a layout for large batches; NULL for small batches or unsupported trees.
  const Forest* fast_forest_or_null(const EnsembleResource& trees, int64_t rows) {
    constexpr int64_t kMinForestRows = 256;
    const std::pair<uint64_t, int64_t> version = {trees.revision(), trees.ensemble().stamp};
    if (version == forest_version_ && forest_) return forest_.get();
    if (rows < kMinForestRows) return nullptr;
    forest_ = forest_of(trees.ensemble());
    forest_version_ = version;
    return forest_.get();
  }

  std::unique_ptr<Forest> forest_;
  std::pair<uint64_t, int64_t> forest_version_;
};

// Computes the logits of the first trees of an ensemble.
class FirstTreesKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t rows = c.input(1).num_elements();
    const Buckets buckets(c, 1, rows);
    const TreeEnsemble& ensemble = validated_ensemble(c, buckets);
    const auto num_trees = static_cast<size_t>(c.op().attr_int("num_trees"));
    auto* logits = c.output(0).data<float>();
    std::fill(logits, logits + c.output(0).num_elements(), 0.0f);
    add_leaves(ensemble, std::min(num_trees, ensemble.trees.size()), buckets, rows, c.output(0));
  }
};

// Each example has a cached node, at which the previous step ended. Computes how the layers and
// trees that were added since then change the logits of the example.
class TrainingPredictKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t rows = c.input(1).num_elements();
    const Buckets buckets(c, 3, rows);
    const TreeEnsemble& ensemble = validated_ensemble(c, buckets);
    const int64_t width = c.op().attr_int("logits_dimension");
    const auto *cached_tree_ids = c.input(1).data<int32_t>(),
               *cached_node_ids = c.input(2).data<int32_t>();
    auto* logits = c.output(0).data<float>();
    auto *trees = c.output(1).data<int32_t>(), *nodes = c.output(2).data<int32_t>();
    if (c.input(2).num_elements() != rows) {
      invalid_argument("`cached_node_ids` has ", c.input(2).num_elements(), " elements and `",
                       "cached_tree_ids` has ", rows, "; they must have the same length.");
    }
    std::fill(logits, logits + rows * width, 0.0f);
    for (int64_t row = 0; row < rows; ++row) {
      trees[row] = ensemble.trees.empty() ? cached_tree_ids[row] : ensemble.num_trees() - 1;
      nodes[row] = 0;
      if (ensemble.trees.empty()) continue;
      const int32_t tree = cached_tree_ids[row];
      if (tree < 0 || tree >= ensemble.num_trees()) {
        invalid_argument("Row ", row + 1, " has cached tree ", tree, ", which does not exist.");
      }
      nodes[row] =
          find_leaf(ensemble, {tree, cached_node_ids[row]}, buckets, row, logits + row * width);
    }
  }

 private:
  struct NodePosition {
    int32_t tree, node;
  };

  // Returns the node where the traversal starts. Subtracts the value of the cached node, which may
  // have been pruned since, because the traversal adds the value of the new leaf.
  static NodePosition resume_from_cached(const TreeEnsemble& ensemble,
                                         NodePosition position,
                                         int64_t row,
                                         float* logits) {
    if (position.node < 0) return {position.tree, 0};
    const Tree& tree = ensemble.trees[static_cast<size_t>(position.tree)];
    const size_t num_nodes = tree.pruned.empty() ? tree.nodes.size() : tree.pruned.size();
    if (static_cast<size_t>(position.node) >= num_nodes) {
      invalid_argument("Row ", row + 1, " has cached node ", position.node, ", which tree ",
                       position.tree, " does not have.");
    }
    if (!tree.pruned.empty()) {
      const PrunedNode& pruned = tree.pruned[static_cast<size_t>(position.node)];
      add_leaf(pruned.logit_change, tree.weight, logits);
      position.node = pruned.new_node_id;
    }
    add_leaf(value_of(tree.nodes[static_cast<size_t>(position.node)]), -tree.weight, logits);
    return position;
  }

  static int32_t find_leaf(const TreeEnsemble& ensemble,
                           NodePosition position,
                           const Buckets& buckets,
                           int64_t row,
                           float* logits) {
    position = resume_from_cached(ensemble, position, row, logits);
    for (;; ++position.tree, position.node = 0) {
      const Tree& tree = ensemble.trees[static_cast<size_t>(position.tree)];
      while (!tree.nodes[static_cast<size_t>(position.node)].is_leaf()) {
        position.node = next_node(tree.nodes[static_cast<size_t>(position.node)], buckets, row);
      }
      add_leaf(tree.nodes[static_cast<size_t>(position.node)].leaf, tree.weight, logits);
      if (position.tree == ensemble.num_trees() - 1) return position.node;
    }
  }
};

// Computes each example's decision path: the features of the splits, and the logit at each node.
class DebugOutputsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t rows = c.input(1).num_elements();
    const Buckets buckets(c, 1, rows);
    const TreeEnsemble& ensemble = validated_ensemble(c, buckets);
    if (c.op().attr_int("logits_dimension") != 1) {
      fail(Code::kUnimplemented, "Debug outputs are available for one logit only.");
    }
    std::vector<std::string> paths;
    for (int64_t row = 0; row < rows; ++row) paths.push_back(path_text(ensemble, buckets, row));
    c.alias_output(0, Tensor::strings(Shape{rows}, paths));
  }

 private:
  static std::string path_text(const TreeEnsemble& ensemble, const Buckets& buckets, int64_t row) {
    std::vector<int32_t> features;
    std::vector<float> logits;
    float previous_trees = 0;
    for (const Tree& tree : ensemble.trees) {
      const TreeNode* node = &tree.nodes[0];
      if (&tree == &ensemble.trees[0]) {
        logits.push_back(tree.weight * leaf_value(value_of(*node), 0));
      }
      while (!node->is_leaf()) {
        features.push_back(node->feature_id);
        node = &tree.nodes[static_cast<size_t>(next_node(*node, buckets, row))];
        logits.push_back(previous_trees + tree.weight * leaf_value(value_of(*node), 0));
      }
      previous_trees += tree.weight * leaf_value(node->leaf, 0);
    }
    WireWriter out;
    out.add_packed_ints(1, features).add_packed_floats(2, logits.data(), logits.size());
    return out.take();
  }
};

void lower_first_trees(Graph&, const Operation& op, const std::vector<Output>&) {
  throw Error(
      Code::kUnimplemented,
      str_cat("'", op.name(),
              "' predicts with the first trees only. TensorFlow has no such op, so the graph "
              "cannot be exported."));
}

int64_t static_rows(const ShapeContext& c, int first) {
  int64_t rows = -1;
  for (int i = first; i < c.num_inputs(); ++i) {
    if (!c.input(i).has_rank() || c.input(i).rank() == 0) continue;
    if (c.input(i).dim(0) >= 0) rows = c.input(i).dim(0);
  }
  return rows;
}

void logits_shape(ShapeContext& c) {
  c.set_output(0, Shape{static_rows(c, 1), c.op().attr_int("logits_dimension")});
}

}  // namespace

RUNHOOKS_REGISTER_OP("BoostedTreesPredict")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .input("bucketized_features: num_bucketized_features * int32, rank >= 1")
    .output("logits: float")
    .attr("num_bucketized_features: int >= 1")
    .attr("logits_dimension: int >= 1")
    .shape(logits_shape)
    .kernel(kernel_of<PredictKernel>())
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesPredict")
    .summary("The logits of examples: the sums of the leaves that they reach.");

// A separate op, because TensorFlow would not load a BoostedTreesPredict with a new attribute.
RUNHOOKS_REGISTER_OP("FirstTreesPredict")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .input("bucketized_features: num_bucketized_features * int32, rank >= 1")
    .output("logits: float")
    .attr("num_bucketized_features: int >= 1")
    .attr("logits_dimension: int >= 1")
    .attr("num_trees: int >= 1")
    .shape(logits_shape)
    .kernel(kernel_of<FirstTreesKernel>())
    .lower(lower_first_trees)
    .stateful()
    .not_differentiable()
    .summary("The logits of examples by the first trees.");

RUNHOOKS_REGISTER_OP("BoostedTreesTrainingPredict")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .input("cached_tree_ids: int32, vector")
    .input("cached_node_ids: int32, vector")
    .input("bucketized_features: num_bucketized_features * int32, rank >= 1")
    .output("partial_logits: float")
    .output("tree_ids: int32")
    .output("node_ids: int32")
    .attr("num_bucketized_features: int >= 1")
    .attr("logits_dimension: int >= 1")
    .shape([](ShapeContext& c) {
      logits_shape(c);
      c.set_output(1, Shape{static_rows(c, 1)});
      c.set_output(2, Shape{static_rows(c, 1)});
    })
    .kernel(kernel_of<TrainingPredictKernel>())
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesTrainingPredict")
    .summary(
        "The change of the logits of examples since their cached nodes, and the nodes of the "
        "last tree that they reach now.");

RUNHOOKS_REGISTER_OP("BoostedTreesExampleDebugOutputs")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .input("bucketized_features: num_bucketized_features * int32, rank >= 1")
    .output("examples_debug_outputs_serialized: string")
    .attr("num_bucketized_features: int >= 1")
    .attr("logits_dimension: int >= 1")
    .shape([](ShapeContext& c) { c.set_output(0, Shape{static_rows(c, 1)}); })
    .kernel(kernel_of<DebugOutputsKernel>())
    .allocates_outputs()
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesExampleDebugOutputs")
    .summary("The decision path of each example, as TensorFlow's message DebugOutput.");

}  // namespace runhooks
