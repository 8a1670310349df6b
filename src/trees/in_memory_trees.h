// InMemoryTrees, the binned data that a session trains trees on, and where its rows are.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "trees/ensemble_resource.h"
#include "trees/growth.h"
#include "trees/layer_grower.h"

namespace runhooks {

// In the place of a group of features: this one is that before it, but for what is missing, which is
// the largest number of all here and the least there.
constexpr int64_t kOtherSide = -2;

// What BoostedTreesInMemoryHandle refers to. It has no state of its own: it is made anew of the
// data, and the rows find their places by the trees.
class InMemoryTrees : public StatefulResource {
 public:
  static std::unique_ptr<StatefulResource> make(const Operation&);
  const char* kind() const override { return "trees in memory"; }
  NamedTensors save_state() const override { return {}; }
  void restore_state(const NamedTensors&) override {}

  bool is_filled() const { return grower_ != nullptr; }
  // Of several processes each has a part of the rows.
  void fill(std::unique_ptr<BinnedMatrix> matrix);
  void share(const RowPartition& all) { all_ = all; }
  int64_t rows() const { return grower_->rows(); }
  // then(first, n, logits) for pieces of all rows, on several threads: by the trees as they are now.
  using Then = std::function<void(int64_t first, int64_t n, const float* logits)>;
  void each_logits(const EnsembleResource& trees, const Then& then);
  // Those of all rows, which come with the data.
  void keep_labels(const float* labels, int64_t rows);
  // The mean logistic loss of all rows by the trees as they are, and what it changes by with each
  // logit, once and twice. Before there are bins and trees all logits are 0. Of several processes
  // the mean of what they give is the loss of the rows of all; its derivatives are by these.
  float logistic_loss(const EnsembleResource& trees, float* gradients, float* hessians);
  int64_t labelled_rows() const { return static_cast<int64_t>(labels_.size()); }
  // Adds a layer of the best splits.
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
  // The logits of a chunk whose rows are in the leaves of the last tree.
  void give(const Tree& tree, int64_t chunk, const Then& then) const;
  void add_leaves(const Tree& tree, int64_t chunk, float* logits) const;
  template <typename Give>
  void follow(const Tree& tree, const Give& give_chunk);
  // To the sums before, what a tree says that does not grow any more.
  void finish_tree(const Tree& tree);
  void begin_tree(const Tree& tree);

  RowPartition all_;
  std::unique_ptr<LayerGrower> grower_;
  std::vector<float> before_;  // the logits by the trees before the last one
  std::vector<float> labels_;
  size_t trees_before_ = 0;
  bool is_on_way_ = false;  // in the tree after those
  uint64_t revision_ = 0;
  int64_t stamp_ = -1;
};

}  // namespace runhooks
