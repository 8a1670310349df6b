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
constexpr int64_t kOtherSide = -2;

// The resource of BoostedTreesInMemoryHandle. Not saved: it can be rebuilt from data and trees.
class InMemoryTrees : public StatefulResource {
 public:
  static std::unique_ptr<StatefulResource> make(const Operation&);
  const char* kind() const override { return "trees in memory"; }
  NamedTensors save_state() const override { return {}; }
  void restore_state(const NamedTensors&) override {}

  bool is_filled() const { return grower_ != nullptr; }
  // In distributed training each process has a shard of the rows, see share().
  void fill(std::unique_ptr<BinnedMatrix> matrix);
  void share(const RowPartition& all) { all_ = all; }
  int64_t rows() const { return grower_->rows(); }
  // Calls then(first, n, logits) for chunks of all rows on several threads, with the current trees.
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
  template <typename Give>
  void follow(const Tree& tree, const Give& give_chunk);
  // Adds the leaves of a finished tree to `before_`.
  void finish_tree(const Tree& tree);
  void begin_tree(const Tree& tree);

  RowPartition all_;
  std::unique_ptr<LayerGrower> grower_;
  std::vector<float> before_;  // the logits from all trees except the last one
  std::vector<float> labels_;
  size_t trees_before_ = 0;
  bool is_routed_ = false;  // rows are already routed through the last tree
  uint64_t revision_ = 0;
  int64_t stamp_ = -1;
};

}  // namespace runhooks
