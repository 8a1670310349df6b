#include "trees/in_memory_trees.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/status.h"
#include "trees/float_splits.h"

namespace runhooks {

namespace {

float weighted_leaf(const Tree& tree, int32_t leaf) {
  return tree.weight * leaf_value(tree.nodes[static_cast<size_t>(leaf)].leaf, 0);
}

}  // namespace

std::unique_ptr<StatefulResource> InMemoryTrees::make(const Operation&) {
  return std::make_unique<InMemoryTrees>();
}

void InMemoryTrees::fill(std::unique_ptr<BinnedMatrix> matrix) {
  grower_ = std::make_unique<LayerGrower>(std::move(matrix), 1);
  grower_->share(all_);
  const auto rows = static_cast<size_t>(grower_->rows());
  before_.resize(rows);
  begin();
}

void InMemoryTrees::begin() {
  std::fill(before_.begin(), before_.end(), 0.0f);
  trees_before_ = 0;
  is_routed_ = false;
  stamp_ = -1;
}

void InMemoryTrees::begin_tree(const Tree& tree) {
  // pruning renumbers nodes, so rows of a pruned tree start at the root
  if (!is_routed_ || !tree.pruned.empty()) grower_->start_tree();
}

template <typename Give>
void InMemoryTrees::follow(const Tree& tree, const Give& give_chunk) {
  begin_tree(tree);
  is_routed_ = true;
  grower_->follow(tree, give_chunk);
}

void InMemoryTrees::finish_tree(const Tree& tree) {
  begin_tree(tree);
  is_routed_ = false;
  grower_->each_leaf(tree, [&](const std::array<int32_t, 2>& nodes, const uint16_t* ids,
                               const uint8_t* which, int64_t n, int64_t first) {
    const float leaves[] = {weighted_leaf(tree, nodes[0]), weighted_leaf(tree, nodes[1])};
    float* sums = before_.data() + first;
    for (int64_t i = 0; i < n; ++i) sums[ids[i]] += leaves[which[i]];
  });
}

// Scatters 2-byte leaf indices, which fit into the L1 cache, then adds logits in row order.
void InMemoryTrees::add_leaves(const Tree& tree, int64_t chunk, float* logits) const {
  thread_local std::vector<uint16_t> leaf_of(BinnedMatrix::kChunkRows);
  thread_local std::vector<float> leaves;
  leaves.clear();
  grower_->each_piece_of(chunk, [&](int32_t node, const uint16_t* ids, int64_t n, int64_t, int64_t) {
    const auto leaf = static_cast<uint16_t>(leaves.size());
    for (int64_t i = 0; i < n; ++i) leaf_of[ids[i]] = leaf;
    leaves.push_back(weighted_leaf(tree, node));
  });
  const auto count = static_cast<int64_t>(leaves.size());
  leaves.resize(std::max(leaves.size(), static_cast<size_t>(kPickedRoom)));
  kernels().histograms->add_picked(grower_->matrix().chunk_rows(chunk), leaf_of.data(), count,
                                   leaves.data(),
                                   before_.data() + chunk * BinnedMatrix::kChunkRows, logits);
}

void InMemoryTrees::pass_logits(const Tree& tree, int64_t chunk, const Then& then) const {
  thread_local std::vector<float> logits(BinnedMatrix::kChunkRows);
  add_leaves(tree, chunk, logits.data());
  then(chunk * BinnedMatrix::kChunkRows, grower_->matrix().chunk_rows(chunk), logits.data());
}

bool InMemoryTrees::is_current(const EnsembleResource& trees) const {
  return trees.revision() == revision_ && trees.ensemble().stamp == stamp_;
}

void InMemoryTrees::each_logits(const EnsembleResource& trees, const Then& then) {
  const TreeEnsemble& ensemble = trees.ensemble();
  const bool is_routed = is_current(trees);
  if (trees.revision() != revision_ || ensemble.stamp < stamp_) begin();
  revision_ = trees.revision();
  while (trees_before_ + 1 < ensemble.trees.size()) {
    finish_tree(ensemble.trees[trees_before_++]);
  }
  const int64_t chunks = grower_->matrix().num_chunks();
  if (ensemble.trees.empty()) {
    parallel_for(chunks, [&](int64_t chunk) {
      const int64_t first = chunk * BinnedMatrix::kChunkRows;
      then(first, grower_->matrix().chunk_rows(chunk), before_.data() + first);
    });
  } else {
    const Tree& last = ensemble.trees.back();
    const auto give_chunk = [&](int64_t chunk) { pass_logits(last, chunk, then); };
    is_routed ? parallel_for(chunks, give_chunk) : follow(last, give_chunk);
  }
  stamp_ = ensemble.stamp;
}

void InMemoryTrees::keep_labels(const float* labels, int64_t rows) {
  labels_.assign(labels, labels + rows);
}

float InMemoryTrees::logistic_loss(const EnsembleResource& trees,
                                   float* gradients,
                                   float* hessians) {
  constexpr int64_t kPiece = BinnedMatrix::kChunkRows;
  const int64_t rows = labelled_rows(), pieces = (rows + kPiece - 1) / kPiece;
  const int64_t rows_of_all = all_.peers ? all_.rows : rows;
  const float part = 1.0f / static_cast<float>(rows_of_all);
  // chunk sums are added in order, so the result does not depend on the number of threads
  std::vector<double> sums(static_cast<size_t>(pieces));
  const auto add = [&](int64_t first, int64_t n, const float* logits) {
    sums[static_cast<size_t>(first / kPiece)] = kernels().histograms->logistic(
        n, logits, labels_.data() + first, part, gradients + first, hessians + first);
  };
  if (is_filled()) {
    each_logits(trees, add);
  } else {
    const std::vector<float> none(static_cast<size_t>(kPiece));
    for (int64_t at = 0; at < rows; at += kPiece) add(at, std::min(kPiece, rows - at), none.data());
  }
  const double of_all =
      std::accumulate(sums.begin(), sums.end(), 0.0) * (all_.peers ? all_.peers->size() : 1);
  return static_cast<float>(of_all / static_cast<double>(rows_of_all));
}

std::vector<LayerSplit> InMemoryTrees::best_splits(const TreeEnsemble& ensemble,
                                                   const float* gradients,
                                                   const float* hessians,
                                                   const SplitCosts& costs) {
  const int32_t begin = ensemble.last_layer_node_start, end = ensemble.last_layer_node_end;
  if (!can_sum_floats(*grower_)) {
    return grower_->best_splits(begin, end, gradients, hessians, ensemble.num_layers_attempted,
                                costs);
  }
  const auto number = [](double x) { return static_cast<float>(x); };
  const SplitRules rules = {{number(costs.l1), number(costs.l2)},
                            number(costs.tree_complexity), number(costs.min_node_weight)};
  return float_splits(*grower_, begin, end, gradients, hessians, rules);
}

void InMemoryTrees::grow(EnsembleResource& trees,
                         const float* gradients,
                         const float* hessians,
                         const SplitCosts& costs,
                         const LayerGrowth& growth,
                         float learning_rate) {
  if (!is_current(trees)) each_logits(trees, [](int64_t, int64_t, const float*) {});
  TreeEnsemble& ensemble = trees.ensemble();
  const std::vector<LayerSplit> found = best_splits(ensemble, gradients, hessians, costs);
  BestSplits best;
  for (const LayerSplit& own : found) {
    Split split;
    split.question.kind = TreeNode::Kind::kBucketized;
    split.question.feature_id = own.feature;
    split.question.threshold = own.threshold;
    split.question.missing_goes_right = own.missing_goes_right;
    split.question.gain = static_cast<float>(own.gain);
    split.left = {learning_rate * own.left[0]};
    split.right = {learning_rate * own.right[0]};
    best.add(own.node, std::move(split));
  }
  grow_layer(ensemble, best, growth);
}

}  // namespace runhooks
