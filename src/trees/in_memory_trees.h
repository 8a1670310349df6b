// InMemoryTrees: the binned training data of a session and the tree nodes of its rows.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "trees/ensemble_resource.h"
#include "trees/growth.h"
#include "trees/layer_grower.h"

namespace runhooks {

// The group number of a feature that is a copy of the previous feature. Only its missing values
// differ: they are in the last bucket instead of the first.
constexpr int64_t kMissingInLastBucket = -2;

struct InMemoryTreeOptions {
  int32_t logits = 1;
  // Whether derivatives are computed once per tree, from the logits of the previous trees.
  // Otherwise they are computed anew for each layer, as in TensorFlow.
  bool is_by_tree = false;
};

// Random sampling of the rows and predictors that a tree learns from.
struct TreeSampling {
  double rows = 1;         // the fraction
  int64_t predictors = 0;  // the number; 0: all
  uint64_t seed = 0;
  bool is_used() const { return rows < 1 || predictors > 0; }
};

// The resource of the op BoostedTreesInMemoryHandle. Checkpoints omit it, because it can be rebuilt
// from data and trees.
class InMemoryTrees : public StatefulResource {
 public:
  static std::unique_ptr<StatefulResource> make(const Operation&);
  const char* kind() const override { return "trees in memory"; }
  NamedTensors save_state() const override { return {}; }
  void restore_state(const NamedTensors&) override {}

  bool is_filled() const { return grower_ != nullptr; }
  // `matrix` has the rows of this process; see set_row_partition() for distributed training.
  void fill(std::unique_ptr<BinnedMatrix> matrix, const InMemoryTreeOptions& options);
  void set_row_partition(const RowPartition& partition) { row_partition_ = partition; }
  int64_t rows() const { return grower_->rows(); }
  int32_t logits() const { return options_.logits; }
  // Calls callback(first, n, logits) for chunks of all rows, on several threads. The logits include
  // the unfinished tree unless options.is_by_tree.
  using LogitsCallback = std::function<void(int64_t first, int64_t n, const float* logits)>;
  void each_logits(const EnsembleResource& trees, const LogitsCallback& callback);
  void set_labels(const float* labels, int64_t rows);
  // Returns the mean logistic loss and sets its derivatives by the logits. Without trees all logits
  // are 0. In distributed training, the mean of the returned losses is the global loss.
  float logistic_loss(const EnsembleResource& trees, float* gradients, float* hessians);
  int64_t labelled_rows() const { return static_cast<int64_t>(labels_.size()); }
  void grow(EnsembleResource& trees,
            const float* gradients,
            const float* hessians,
            const SplitCosts& costs,
            const LayerGrowthOptions& growth,
            const TreeSampling& sampling,
            float learning_rate);

 private:
  // Discards the logits and the routing of the rows.
  void reset();
  std::vector<LayerSplit> best_splits(const TreeEnsemble& ensemble,
                                      const float* gradients,
                                      const float* hessians,
                                      const SplitCosts& costs);
  bool is_current(const EnsembleResource& trees) const;
  // Passes the logits of a chunk to `callback`. Its rows must be in leaves of the last tree.
  void pass_logits(const Tree& tree, int64_t chunk, const LogitsCallback& callback) const;
  void add_leaves(const Tree& tree, int64_t chunk, float* logits) const;
  void add_several_leaves(const Tree& tree, int64_t chunk, float* logits) const;
  void add_root(const Tree& tree, int64_t chunk, float* logits) const;
  // Sets the derivatives of rows that the tree does not learn from to 0.
  void sample_rows(const TreeSampling& sampling,
                   uint64_t tree,
                   const float** gradients,
                   const float** hessians);
  void sample_columns(const TreeSampling& sampling, uint64_t tree);
  template <typename Callback>
  void route_rows(const Tree& tree, const Callback& pass_chunk);
  // Adds the leaf values of a finished tree to `finished_logits_`.
  void finish_tree(const Tree& tree);
  void begin_tree(const Tree& tree);

  InMemoryTreeOptions options_;
  RowPartition row_partition_;
  std::unique_ptr<LayerGrower> grower_;
  std::vector<float> sampled_gradients_, sampled_hessians_;
  std::vector<float> finished_logits_;  // the logits of all trees except the last one
  std::vector<float> labels_;
  size_t finished_trees_ = 0;  // trees in `finished_logits_`
  bool is_routed_ = false;     // rows are already routed through the last tree
  uint64_t revision_ = 0;
  int64_t stamp_ = -1;
};

}  // namespace runhooks
