#include "trees/in_memory_trees.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/status.h"
#include "trees/float_splits.h"

namespace runhooks {

namespace {

float weighted_leaf(const Tree& tree, int32_t leaf, size_t logit = 0) {
  return tree.weight * leaf_value(tree.nodes[static_cast<size_t>(leaf)].leaf, logit);
}

// The value of the root before it was split: the bias of the first tree, otherwise nothing.
const std::vector<float>& root_value(const Tree& tree) {
  const TreeNode& root = tree.nodes.front();
  return root.is_leaf() ? root.leaf : root.original_leaf;
}

// SplitMix64.
uint64_t hashed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::vector<float> scaled(const std::vector<float>& x, float factor) {
  std::vector<float> product = x;
  for (float& value : product) value *= factor;
  return product;
}

}  // namespace

std::unique_ptr<StatefulResource> InMemoryTrees::make(const Operation&) {
  return std::make_unique<InMemoryTrees>();
}

void InMemoryTrees::fill(std::unique_ptr<BinnedMatrix> matrix, const TreesKind& kind) {
  kind_ = kind;
  grower_ = std::make_unique<LayerGrower>(std::move(matrix), kind.logits);
  grower_->share(all_);
  before_.resize(static_cast<size_t>(grower_->rows() * kind.logits));
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
    const int64_t width = kind_.logits;
    for (int64_t k = 0; k < width; ++k) {
      const auto logit = static_cast<size_t>(k);
      const float leaves[] = {weighted_leaf(tree, nodes[0], logit),
                              weighted_leaf(tree, nodes[1], logit)};
      float* sums = before_.data() + first * width + k;
      for (int64_t i = 0; i < n; ++i) sums[ids[i] * width] += leaves[which[i]];
    }
  });
}

// Scatters 2-byte leaf indices, which fit into the L1 cache, then adds logits in row order.
void InMemoryTrees::add_leaves(const Tree& tree, int64_t chunk, float* logits) const {
  thread_local std::vector<uint16_t> leaf_of(BinnedMatrix::kChunkRows);
  thread_local std::vector<float> leaves;
  leaves.clear();
  grower_->each_leaf_segment(chunk,
                             [&](int32_t node, const uint16_t* ids, int64_t n, int64_t, int64_t) {
                               const auto leaf = static_cast<uint16_t>(leaves.size());
                               for (int64_t i = 0; i < n; ++i) leaf_of[ids[i]] = leaf;
                               leaves.push_back(weighted_leaf(tree, node));
                             });
  const auto count = static_cast<int64_t>(leaves.size());
  leaves.resize(std::max(leaves.size(), static_cast<size_t>(kMinPickedTable)));
  kernels().histograms->add_picked(grower_->matrix().chunk_rows(chunk), leaf_of.data(), count,
                                   leaves.data(), before_.data() + chunk * BinnedMatrix::kChunkRows,
                                   logits);
}

void InMemoryTrees::add_several_leaves(const Tree& tree, int64_t chunk, float* logits) const {
  const int64_t width = kind_.logits, begin = chunk * BinnedMatrix::kChunkRows * width;
  std::copy_n(before_.data() + begin, grower_->matrix().chunk_rows(chunk) * width, logits);
  const auto add = [&](int32_t node, const uint16_t* ids, int64_t n, int64_t, int64_t) {
    for (int64_t k = 0; k < width; ++k) {
      const float leaf = weighted_leaf(tree, node, static_cast<size_t>(k));
      for (int64_t i = 0; i < n; ++i) logits[ids[i] * width + k] += leaf;
    }
  };
  grower_->each_leaf_segment(chunk, add);
}

void InMemoryTrees::add_root(const Tree& tree, int64_t chunk, float* logits) const {
  const int64_t width = kind_.logits, begin = chunk * BinnedMatrix::kChunkRows * width;
  const int64_t rows = grower_->matrix().chunk_rows(chunk);
  const std::vector<float>& root = root_value(tree);
  for (int64_t k = 0; k < width; ++k) {
    const float value = tree.weight * leaf_value(root, static_cast<size_t>(k));
    const float* before = before_.data() + begin + k;
    for (int64_t i = 0; i < rows; ++i) logits[i * width + k] = before[i * width] + value;
  }
}

void InMemoryTrees::pass_logits(const Tree& tree, int64_t chunk, const Then& then) const {
  thread_local std::vector<float> logits;
  const auto most = static_cast<size_t>(BinnedMatrix::kChunkRows * kind_.logits);
  logits.resize(std::max(logits.size(), most));
  if (kind_.is_by_tree) {
    add_root(tree, chunk, logits.data());
  } else if (kind_.logits > 1) {
    add_several_leaves(tree, chunk, logits.data());
  } else {
    add_leaves(tree, chunk, logits.data());
  }
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
      then(first, grower_->matrix().chunk_rows(chunk), before_.data() + first * kind_.logits);
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
  constexpr int64_t kChunk = BinnedMatrix::kChunkRows;
  const int64_t rows = labelled_rows(), pieces = (rows + kChunk - 1) / kChunk;
  const int64_t global_rows = all_.peers ? all_.rows : rows;
  const float part = 1.0f / static_cast<float>(global_rows);
  // chunk sums are added in order, so the result does not depend on the number of threads
  std::vector<double> sums(static_cast<size_t>(pieces));
  const auto add = [&](int64_t first, int64_t n, const float* logits) {
    sums[static_cast<size_t>(first / kChunk)] = kernels().histograms->logistic(
        n, logits, labels_.data() + first, part, gradients + first, hessians + first);
  };
  if (is_filled()) {
    each_logits(trees, add);
  } else {
    const std::vector<float> none(static_cast<size_t>(kChunk));
    for (int64_t at = 0; at < rows; at += kChunk) add(at, std::min(kChunk, rows - at), none.data());
  }
  const double of_all =
      std::accumulate(sums.begin(), sums.end(), 0.0) * (all_.peers ? all_.peers->size() : 1);
  return static_cast<float>(of_all / static_cast<double>(global_rows));
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
                            number(costs.tree_complexity),
                            number(costs.min_node_weight),
                            costs.weighs_sides};
  return float_splits(*grower_, begin, end, gradients, hessians, rules);
}

void InMemoryTrees::sample_rows(const TreeSampling& sampling,
                                uint64_t tree,
                                const float** gradients,
                                const float** hessians) {
  if (sampling.rows >= 1) return;
  const uint64_t seed = hashed(hashed(sampling.seed) ^ tree);
  const auto limit = static_cast<uint64_t>(sampling.rows * 9007199254740992.0);  // 2^53
  const auto size = static_cast<uint64_t>(all_.peers ? all_.peers->size() : 1);
  const auto rank = static_cast<uint64_t>(all_.peers ? all_.peers->rank() : 0);
  sampled_gradients_.resize(before_.size());
  sampled_hessians_.resize(before_.size());
  parallel_for(grower_->matrix().num_chunks(), [&](int64_t chunk) {
    const int64_t first = chunk * BinnedMatrix::kChunkRows, width = kind_.logits;
    const int64_t end = first + grower_->matrix().chunk_rows(chunk);
    for (int64_t row = first; row < end; ++row) {
      const uint64_t drawn = hashed(seed + static_cast<uint64_t>(row) * size + rank) >> 11;
      for (int64_t i = row * width; i < (row + 1) * width; ++i) {
        const auto at = static_cast<size_t>(i);
        sampled_gradients_[at] = drawn < limit ? (*gradients)[i] : 0.0f;
        sampled_hessians_[at] = drawn < limit ? (*hessians)[i] : 0.0f;
      }
    }
  });
  *gradients = sampled_gradients_.data();
  *hessians = sampled_hessians_.data();
}

void InMemoryTrees::sample_columns(const TreeSampling& sampling, uint64_t tree) {
  if (sampling.predictors == 0) return;
  const std::vector<BinnedColumn>& columns = grower_->matrix().columns();
  const uint64_t seed = hashed(hashed(~sampling.seed) ^ tree);
  std::vector<std::pair<uint64_t, int32_t>> drawn;
  for (const BinnedColumn& column : columns) {
    const std::pair<uint64_t, int32_t> own = {
        hashed(seed + static_cast<uint64_t>(column.predictor)), column.predictor};
    if (drawn.empty() || drawn.back() != own) drawn.push_back(own);
  }
  const size_t n = std::min(drawn.size(), static_cast<size_t>(sampling.predictors));
  std::sort(drawn.begin(), drawn.end());
  drawn.resize(n);
  std::vector<bool> uses;
  for (const BinnedColumn& column : columns) {
    uses.push_back(std::any_of(drawn.begin(), drawn.end(),
                               [&](const auto& own) { return own.second == column.predictor; }));
  }
  grower_->use_columns(std::move(uses));
}

void InMemoryTrees::grow(EnsembleResource& trees,
                         const float* gradients,
                         const float* hessians,
                         const SplitCosts& costs,
                         const LayerGrowth& growth,
                         const TreeSampling& sampling,
                         float learning_rate) {
  if (!is_current(trees)) each_logits(trees, [](int64_t, int64_t, const float*) {});
  TreeEnsemble& ensemble = trees.ensemble();
  const auto number = static_cast<uint64_t>(std::max(ensemble.num_trees(), 1));
  sample_rows(sampling, number, &gradients, &hessians);
  sample_columns(sampling, number);
  const std::vector<LayerSplit> found = best_splits(ensemble, gradients, hessians, costs);
  BestSplits best;
  const bool is_root = ensemble.last_layer_node_end <= 1;
  for (const LayerSplit& own : found) {
    const bool has_empty_side = own.left_is_empty || own.right_is_empty;
    if (kind_.is_by_tree && has_empty_side && !is_root) continue;
    Split split;
    split.question.kind = TreeNode::Kind::kBucketized;
    split.question.feature_id = own.feature;
    split.question.threshold = own.threshold;
    split.question.missing_goes_right = own.missing_goes_right;
    split.question.gain = static_cast<float>(own.gain);
    split.left = scaled(own.left, learning_rate);
    split.right = scaled(own.right, learning_rate);
    if (kind_.is_by_tree && !ensemble.trees.empty()) {
      // these contributions refer to the root
      const Tree& tree = ensemble.trees.back();
      const std::vector<float>& leaf = tree.nodes[static_cast<size_t>(own.node)].leaf;
      for (size_t k = 0; k < split.left.size(); ++k) {
        const float of_parent = leaf_value(leaf, k) - leaf_value(root_value(tree), k);
        split.left[k] = own.left_is_empty ? 0 : split.left[k] - of_parent;
        split.right[k] = own.right_is_empty ? 0 : split.right[k] - of_parent;
      }
    }
    best.add(own.node, std::move(split));
  }
  grow_layer(ensemble, best, growth);
}

}  // namespace runhooks
