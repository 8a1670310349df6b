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

// Returns the root's value before its split: the bias in the first tree, empty in other trees.
const std::vector<float>& root_value(const Tree& tree) {
  const TreeNode& root = tree.nodes.front();
  return root.is_leaf() ? root.leaf : root.original_leaf;
}

// Computes the hash function of the random generator SplitMix64.
uint64_t splitmix64(uint64_t x) {
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

void InMemoryTrees::fill(std::unique_ptr<BinnedMatrix> matrix, const InMemoryTreeOptions& options) {
  options_ = options;
  grower_ = std::make_unique<LayerGrower>(std::move(matrix), options.logits);
  grower_->set_row_partition(row_partition_);
  finished_logits_.resize(static_cast<size_t>(grower_->rows() * options.logits));
  reset();
}

void InMemoryTrees::reset() {
  std::fill(finished_logits_.begin(), finished_logits_.end(), 0.0f);
  finished_trees_ = 0;
  is_routed_ = false;
  stamp_ = -1;
}

void InMemoryTrees::begin_tree(const Tree& tree) {
  // Pruning renumbers nodes, so rows of a pruned tree restart at the root.
  if (!is_routed_ || !tree.pruned.empty()) grower_->start_tree();
}

template <typename Callback>
void InMemoryTrees::route_rows(const Tree& tree, const Callback& pass_chunk) {
  begin_tree(tree);
  is_routed_ = true;
  grower_->route_rows(tree, pass_chunk);
}

void InMemoryTrees::finish_tree(const Tree& tree) {
  begin_tree(tree);
  is_routed_ = false;
  grower_->each_leaf(tree, [&](const std::array<int32_t, 2>& nodes, const uint16_t* ids,
                               const uint8_t* side, int64_t n, int64_t first) {
    const int64_t width = options_.logits;
    for (int64_t k = 0; k < width; ++k) {
      const auto logit = static_cast<size_t>(k);
      const float leaves[] = {weighted_leaf(tree, nodes[0], logit),
                              weighted_leaf(tree, nodes[1], logit)};
      float* sums = finished_logits_.data() + first * width + k;
      for (int64_t i = 0; i < n; ++i) sums[ids[i] * width] += leaves[side[i]];
    }
  });
}

// Scatters the leaf index of each row, then adds leaf values in row order: the 2-byte indices of a
// chunk fit into the L1 cache, unlike its logits.
void InMemoryTrees::add_leaves(const Tree& tree, int64_t chunk, float* logits) const {
  thread_local std::vector<uint16_t> leaf_of(BinnedMatrix::kChunkRows);
  thread_local std::vector<float> leaves;
  leaves.clear();
  grower_->each_segment_of_chunk(
      chunk, [&](int32_t node, const uint16_t* ids, int64_t n, int64_t, int64_t) {
        const auto leaf = static_cast<uint16_t>(leaves.size());
        for (int64_t i = 0; i < n; ++i) leaf_of[ids[i]] = leaf;
        leaves.push_back(weighted_leaf(tree, node));
      });
  const auto count = static_cast<int64_t>(leaves.size());
  leaves.resize(std::max(leaves.size(), static_cast<size_t>(kMinTableLength)));
  kernels().histograms->add_from_table(
      grower_->matrix().chunk_rows(chunk), leaf_of.data(), count, leaves.data(),
      finished_logits_.data() + chunk * BinnedMatrix::kChunkRows, logits);
}

void InMemoryTrees::add_several_leaves(const Tree& tree, int64_t chunk, float* logits) const {
  const int64_t width = options_.logits, begin = chunk * BinnedMatrix::kChunkRows * width;
  std::copy_n(finished_logits_.data() + begin, grower_->matrix().chunk_rows(chunk) * width, logits);
  const auto add = [&](int32_t node, const uint16_t* ids, int64_t n, int64_t, int64_t) {
    for (int64_t k = 0; k < width; ++k) {
      const float leaf = weighted_leaf(tree, node, static_cast<size_t>(k));
      for (int64_t i = 0; i < n; ++i) logits[ids[i] * width + k] += leaf;
    }
  };
  grower_->each_segment_of_chunk(chunk, add);
}

void InMemoryTrees::add_root(const Tree& tree, int64_t chunk, float* logits) const {
  const int64_t width = options_.logits, begin = chunk * BinnedMatrix::kChunkRows * width;
  const int64_t rows = grower_->matrix().chunk_rows(chunk);
  const std::vector<float>& root = root_value(tree);
  for (int64_t k = 0; k < width; ++k) {
    const float value = tree.weight * leaf_value(root, static_cast<size_t>(k));
    const float* finished = finished_logits_.data() + begin + k;
    for (int64_t i = 0; i < rows; ++i) logits[i * width + k] = finished[i * width] + value;
  }
}

void InMemoryTrees::pass_logits(const Tree& tree,
                                int64_t chunk,
                                const LogitsCallback& callback) const {
  thread_local std::vector<float> logits;
  const auto size = static_cast<size_t>(BinnedMatrix::kChunkRows * options_.logits);
  logits.resize(std::max(logits.size(), size));
  if (options_.is_by_tree) {
    add_root(tree, chunk, logits.data());
  } else if (options_.logits > 1) {
    add_several_leaves(tree, chunk, logits.data());
  } else {
    add_leaves(tree, chunk, logits.data());
  }
  callback(chunk * BinnedMatrix::kChunkRows, grower_->matrix().chunk_rows(chunk), logits.data());
}

bool InMemoryTrees::is_current(const EnsembleResource& trees) const {
  return trees.revision() == revision_ && trees.ensemble().stamp == stamp_;
}

void InMemoryTrees::each_logits(const EnsembleResource& trees, const LogitsCallback& callback) {
  const TreeEnsemble& ensemble = trees.ensemble();
  const bool is_routed = is_current(trees);
  if (trees.revision() != revision_ || ensemble.stamp < stamp_) reset();
  revision_ = trees.revision();
  while (finished_trees_ + 1 < ensemble.trees.size()) {
    finish_tree(ensemble.trees[finished_trees_++]);
  }
  const int64_t chunks = grower_->matrix().num_chunks();
  if (ensemble.trees.empty()) {
    parallel_for(chunks, [&](int64_t chunk) {
      const int64_t first = chunk * BinnedMatrix::kChunkRows;
      callback(first, grower_->matrix().chunk_rows(chunk),
               finished_logits_.data() + first * options_.logits);
    });
  } else {
    const Tree& last = ensemble.trees.back();
    const auto pass_chunk = [&](int64_t chunk) { pass_logits(last, chunk, callback); };
    is_routed ? parallel_for(chunks, pass_chunk) : route_rows(last, pass_chunk);
  }
  stamp_ = ensemble.stamp;
}

void InMemoryTrees::set_labels(const float* labels, int64_t rows) {
  labels_.assign(labels, labels + rows);
}

float InMemoryTrees::logistic_loss(const EnsembleResource& trees,
                                   float* gradients,
                                   float* hessians) {
  constexpr int64_t kChunk = BinnedMatrix::kChunkRows;
  const int64_t rows = labelled_rows(), chunks = (rows + kChunk - 1) / kChunk;
  const int64_t global_rows = row_partition_.peers ? row_partition_.rows : rows;
  const float row_weight = 1.0f / static_cast<float>(global_rows);
  // One sum per chunk, added in order, so that the result does not depend on the number of threads.
  std::vector<double> sums(static_cast<size_t>(chunks));
  const auto add = [&](int64_t first, int64_t n, const float* logits) {
    sums[static_cast<size_t>(first / kChunk)] = kernels().histograms->logistic(
        n, logits, labels_.data() + first, row_weight, gradients + first, hessians + first);
  };
  if (is_filled()) {
    each_logits(trees, add);
  } else {
    const std::vector<float> zeros(static_cast<size_t>(kChunk));
    for (int64_t first = 0; first < rows; first += kChunk) {
      add(first, std::min(kChunk, rows - first), zeros.data());
    }
  }
  const double scaled_sum = std::accumulate(sums.begin(), sums.end(), 0.0) *
                            (row_partition_.peers ? row_partition_.peers->size() : 1);
  return static_cast<float>(scaled_sum / static_cast<double>(global_rows));
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
  const auto to_float = [](double x) { return static_cast<float>(x); };
  const SplitRules rules = {{to_float(costs.l1), to_float(costs.l2)},
                            to_float(costs.tree_complexity),
                            to_float(costs.min_node_weight),
                            costs.weighs_sides};
  return float_splits(*grower_, begin, end, gradients, hessians, rules);
}

void InMemoryTrees::sample_rows(const TreeSampling& sampling,
                                uint64_t tree,
                                const float** gradients,
                                const float** hessians) {
  if (sampling.rows >= 1) return;
  const uint64_t seed = splitmix64(splitmix64(sampling.seed) ^ tree);
  // A row is sampled if its 53-bit random number is below the limit.
  const auto limit = static_cast<uint64_t>(sampling.rows * 9007199254740992.0);  // 2^53
  const auto size = static_cast<uint64_t>(row_partition_.peers ? row_partition_.peers->size() : 1);
  const auto rank = static_cast<uint64_t>(row_partition_.peers ? row_partition_.peers->rank() : 0);
  sampled_gradients_.resize(finished_logits_.size());
  sampled_hessians_.resize(finished_logits_.size());
  parallel_for(grower_->matrix().num_chunks(), [&](int64_t chunk) {
    const int64_t first = chunk * BinnedMatrix::kChunkRows, width = options_.logits;
    const int64_t end = first + grower_->matrix().chunk_rows(chunk);
    for (int64_t row = first; row < end; ++row) {
      const uint64_t random = splitmix64(seed + static_cast<uint64_t>(row) * size + rank) >> 11;
      for (int64_t i = row * width; i < (row + 1) * width; ++i) {
        const auto at = static_cast<size_t>(i);
        sampled_gradients_[at] = random < limit ? (*gradients)[i] : 0.0f;
        sampled_hessians_[at] = random < limit ? (*hessians)[i] : 0.0f;
      }
    }
  });
  *gradients = sampled_gradients_.data();
  *hessians = sampled_hessians_.data();
}

void InMemoryTrees::sample_columns(const TreeSampling& sampling, uint64_t tree) {
  if (sampling.predictors == 0) return;
  const std::vector<BinnedColumn>& columns = grower_->matrix().columns();
  const uint64_t seed = splitmix64(splitmix64(~sampling.seed) ^ tree);
  std::vector<std::pair<uint64_t, int32_t>> candidates;  // random number and predictor
  for (const BinnedColumn& column : columns) {
    const std::pair<uint64_t, int32_t> candidate = {
        splitmix64(seed + static_cast<uint64_t>(column.predictor)), column.predictor};
    if (candidates.empty() || candidates.back() != candidate) candidates.push_back(candidate);
  }
  const size_t n = std::min(candidates.size(), static_cast<size_t>(sampling.predictors));
  std::sort(candidates.begin(), candidates.end());
  candidates.resize(n);
  std::vector<bool> is_used;
  for (const BinnedColumn& column : columns) {
    is_used.push_back(std::any_of(candidates.begin(), candidates.end(), [&](const auto& candidate) {
      return candidate.second == column.predictor;
    }));
  }
  grower_->use_columns(std::move(is_used));
}

void InMemoryTrees::grow(EnsembleResource& trees,
                         const float* gradients,
                         const float* hessians,
                         const SplitCosts& costs,
                         const LayerGrowthOptions& growth,
                         const TreeSampling& sampling,
                         float learning_rate) {
  if (!is_current(trees)) each_logits(trees, [](int64_t, int64_t, const float*) {});
  TreeEnsemble& ensemble = trees.ensemble();
  const auto tree_number = static_cast<uint64_t>(std::max(ensemble.num_trees(), 1));
  sample_rows(sampling, tree_number, &gradients, &hessians);
  sample_columns(sampling, tree_number);
  BestSplits best;
  const bool is_root = ensemble.last_layer_node_end <= 1;
  for (const LayerSplit& found : best_splits(ensemble, gradients, hessians, costs)) {
    const bool has_empty_side = found.left_is_empty || found.right_is_empty;
    if (options_.is_by_tree && has_empty_side && !is_root) continue;
    Split split;
    split.node.kind = TreeNode::Kind::kBucketized;
    split.node.feature_id = found.feature;
    split.node.threshold = found.threshold;
    split.node.missing_goes_right = found.missing_goes_right;
    split.node.gain = static_cast<float>(found.gain);
    split.left = scaled(found.left, learning_rate);
    split.right = scaled(found.right, learning_rate);
    if (options_.is_by_tree && !ensemble.trees.empty()) {
      // The contributions here are relative to the root of the tree, those of a split to the leaf
      // that it replaces. So the contribution of that leaf is subtracted.
      const Tree& tree = ensemble.trees.back();
      const std::vector<float>& leaf = tree.nodes[static_cast<size_t>(found.node)].leaf;
      for (size_t k = 0; k < split.left.size(); ++k) {
        const float parent_contribution = leaf_value(leaf, k) - leaf_value(root_value(tree), k);
        split.left[k] = found.left_is_empty ? 0 : split.left[k] - parent_contribution;
        split.right[k] = found.right_is_empty ? 0 : split.right[k] - parent_contribution;
      }
    }
    best.add(found.node, std::move(split));
  }
  grow_layer(ensemble, best, growth);
}

}  // namespace runhooks
