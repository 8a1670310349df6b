// InMemoryTrees: the binned training data of a session and the tree nodes of its rows.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "trees/ensemble_resource.h"
#include "trees/growth.h"
#include "trees/layer_grower.h"

namespace runhooks {

// Marks a copy of the previous feature with missing values in the last instead of the first bucket.
constexpr int64_t kComplement = -2;

// How trees in memory differ from TensorFlow's.
struct TreesKind {
  int32_t logits = 1;
  // All layers of a tree fit the derivatives before the tree. Otherwise each layer fits those after
  // the previous layer.
  bool is_by_tree = false;
};

// The rows and predictors that a tree learns from, drawn for each tree.
struct TreeSampling {
  double rows = 1;         // the share
  int64_t predictors = 0;  // 0: all
  uint64_t seed = 0;
  bool is_used() const { return rows < 1 || predictors > 0; }
};

// The resource of BoostedTreesInMemoryHandle. Not saved: it can be rebuilt from data and trees.
class InMemoryTrees : public StatefulResource {
 public:
  static std::unique_ptr<StatefulResource> make(const Operation&);
  const char* kind() const override { return "trees in memory"; }
  NamedTensors save_state() const override { return {}; }
  void restore_state(const NamedTensors&) override {}

  bool is_filled() const { return grower_ != nullptr; }
  // In distributed training each process has a shard of the rows, see share().
  void fill(std::unique_ptr<BinnedMatrix> matrix, const TreesKind& kind);
  void share(const RowPartition& all) { all_ = all; }
  int64_t rows() const { return grower_->rows(); }
  int32_t logits() const { return kind_.logits; }
  // Calls then(first, n, logits) for chunks of all rows, on several threads. The logits are those
  // of all trees, or of the finished trees if each layer fits the derivatives before its tree.
  using Then = std::function<void(int64_t first, int64_t n, const float* logits)>;
  void each_logits(const EnsembleResource& trees, const Then& then);
  void keep_labels(const float* labels, int64_t rows);
  // Returns the mean logistic loss and sets its derivatives by the logits, which are 0 without
  // trees. In distributed training, the mean over the processes is the global loss.
  float logistic_loss(const EnsembleResource& trees, float* gradients, float* hessians);
  int64_t labelled_rows() const { return static_cast<int64_t>(labels_.size()); }
  void grow(EnsembleResource& trees,
            const float* gradients,
            const float* hessians,
            const SplitCosts& costs,
            const LayerGrowth& growth,
            const TreeSampling& sampling,
            float learning_rate);

 private:
  void begin();
  std::vector<LayerSplit> best_splits(const TreeEnsemble& ensemble,
                                      const float* gradients,
                                      const float* hessians,
                                      const SplitCosts& costs);
  bool is_current(const EnsembleResource& trees) const;
  // Passes the logits of a chunk; its rows must be in leaves of the last tree.
  void pass_logits(const Tree& tree, int64_t chunk, const Then& then) const;
  void add_leaves(const Tree& tree, int64_t chunk, float* logits) const;
  void add_several_leaves(const Tree& tree, int64_t chunk, float* logits) const;
  void add_root(const Tree& tree, int64_t chunk, float* logits) const;
  // Sets the derivatives of rows that the tree does not learn from to 0.
  void sample_rows(const TreeSampling& sampling,
                   uint64_t tree,
                   const float** gradients,
                   const float** hessians);
  void sample_columns(const TreeSampling& sampling, uint64_t tree);
  template <typename Give>
  void follow(const Tree& tree, const Give& give_chunk);
  // Adds the leaves of a finished tree to `before_`.
  void finish_tree(const Tree& tree);
  void begin_tree(const Tree& tree);

  TreesKind kind_;
  RowPartition all_;
  std::unique_ptr<LayerGrower> grower_;
  std::vector<float> sampled_gradients_, sampled_hessians_;
  std::vector<float> before_;  // the logits from all trees except the last one
  std::vector<float> labels_;
  size_t trees_before_ = 0;
  bool is_routed_ = false;  // rows are already routed through the last tree
  uint64_t revision_ = 0;
  int64_t stamp_ = -1;
};

}  // namespace runhooks
