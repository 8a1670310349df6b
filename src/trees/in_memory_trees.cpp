// What lives here: how rows in memory follow the trees of a model that grow.
// Who may use it: in_memory_trees.h.
// What it must not know: how splits are found, losses.
#include "trees/in_memory_trees.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/status.h"
#include "trees/float_splits.h"

namespace runhooks {

namespace {

float said_by(const Tree& tree, int32_t leaf) {
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
  logits_.resize(rows);
  begin();
}

void InMemoryTrees::begin() {
  std::fill(before_.begin(), before_.end(), 0.0f);
  trees_before_ = 0;
  is_on_way_ = false;
  stamp_ = -1;
}

void InMemoryTrees::each_chunk(const Then& then) const {
  const BinnedMatrix& matrix = grower_->matrix();
  share_each(matrix.num_chunks(), [&](int64_t chunk) {
    then(chunk * BinnedMatrix::kChunkRows, matrix.chunk_rows(chunk));
  });
}

void InMemoryTrees::begin_tree(const Tree& tree) {
  // the nodes of a pruned tree have other numbers now
  if (!is_on_way_ || !tree.pruned.empty()) grower_->start_tree();
}

void InMemoryTrees::finish_tree(const Tree& tree) {
  begin_tree(tree);
  is_on_way_ = false;
  grower_->each_leaf(tree, [&](const std::array<int32_t, 2>& nodes, const uint16_t* ids,
                               const uint8_t* which, int64_t n, int64_t first) {
    const float leaves[] = {said_by(tree, nodes[0]), said_by(tree, nodes[1])};
    float* sums = before_.data() + first;
    for (int64_t i = 0; i < n; ++i) sums[ids[i]] += leaves[which[i]];
  });
}

void InMemoryTrees::add_tree(const Tree& tree, const Then& then) {
  begin_tree(tree);
  is_on_way_ = true;
  grower_->follow(tree, [&](int64_t chunk) {
    add_leaves(tree, chunk);
    then(chunk * BinnedMatrix::kChunkRows, grower_->matrix().chunk_rows(chunk));
  });
}

// By way of the number of each row's leaf: these are so small that writing them here and there stays
// in the nearest cache, and the logits come in their order.
void InMemoryTrees::add_leaves(const Tree& tree, int64_t chunk) {
  thread_local std::vector<uint16_t> leaf_of(BinnedMatrix::kChunkRows);
  thread_local std::vector<float> leaves;
  leaves.clear();
  grower_->each_piece_of(chunk, [&](int32_t node, const uint16_t* ids, int64_t n, int64_t, int64_t) {
    const auto leaf = static_cast<uint16_t>(leaves.size());
    for (int64_t i = 0; i < n; ++i) leaf_of[ids[i]] = leaf;
    leaves.push_back(said_by(tree, node));
  });
  const auto count = static_cast<int64_t>(leaves.size());
  leaves.resize(std::max(leaves.size(), static_cast<size_t>(kPickedRoom)));
  const int64_t first = chunk * BinnedMatrix::kChunkRows;
  kernels().histograms->add_picked(grower_->matrix().chunk_rows(chunk), leaf_of.data(), count,
                                   leaves.data(), before_.data() + first, logits_.data() + first);
}

const std::vector<float>& InMemoryTrees::logits(const EnsembleResource& trees, const Then& then) {
  const TreeEnsemble& ensemble = trees.ensemble();
  if (trees.revision() != revision_ || ensemble.stamp < stamp_) begin();
  if (ensemble.stamp == stamp_) {
    each_chunk(then);
    return logits_;
  }
  revision_ = trees.revision();
  while (trees_before_ + 1 < ensemble.trees.size()) {
    finish_tree(ensemble.trees[trees_before_++]);
  }
  if (ensemble.trees.empty()) {
    logits_ = before_;
    each_chunk(then);
  } else {
    add_tree(ensemble.trees.back(), then);
  }
  stamp_ = ensemble.stamp;
  return logits_;
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
  // sums of pieces are added in their order, whatever thread they come from
  std::vector<double> sums(static_cast<size_t>(pieces));
  const auto add = [&](const float* logits, int64_t first, int64_t n) {
    sums[static_cast<size_t>(first / kPiece)] = kernels().histograms->logistic(
        n, logits, labels_.data() + first, part, gradients + first, hessians + first);
  };
  if (is_filled()) {
    logits(trees, [&](int64_t first, int64_t n) { add(logits_.data() + first, first, n); });
  } else {
    const std::vector<float> none(static_cast<size_t>(kPiece));
    for (int64_t at = 0; at < rows; at += kPiece) add(none.data(), at, std::min(kPiece, rows - at));
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
  logits(trees);
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
