#include "trees/flat_forest.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace runhooks {

namespace {

// The number of rows that traverse() processes in parallel.
constexpr int64_t kLanes = 8;
constexpr int32_t kMaxBuckets = UINT16_MAX - 1;

uint64_t pack_node(uint16_t slot, uint16_t threshold, uint32_t next) {
  return static_cast<uint64_t>(slot) << 48 | static_cast<uint64_t>(threshold) << 32 | next;
}

// Calls run(i) for each lane, unrolled at compile time so that node indices stay in registers.
template <typename Run, int64_t... kI>
void each_lane(const Run& run, std::integer_sequence<int64_t, kI...>) {
  (run(kI), ...);
}

bool is_supported(const TreeNode& node) {
  if (node.is_leaf()) return node.leaf.size() <= 1;
  return node.kind == TreeNode::Kind::kBucketized && node.threshold >= -1 &&
         node.threshold < kMaxBuckets && node.feature_id < kMaxBuckets / 2;
}

}  // namespace

bool FlatForest::can_hold(const TreeEnsemble& ensemble) {
  return std::all_of(ensemble.trees.begin(), ensemble.trees.end(), [](const Tree& tree) {
    return std::all_of(tree.nodes.begin(), tree.nodes.end(), is_supported);
  });
}

FlatForest::FlatForest(const TreeEnsemble& ensemble) {
  for (const Tree& tree : ensemble.trees) add_tree(tree);
}

uint16_t FlatForest::slot_for(const TreeNode& node) {
  const size_t key = split_key(node);
  if (slot_of_.size() <= key) slot_of_.resize(key + 1, -1);
  if (slot_of_[key] < 0) {
    slot_of_[key] = static_cast<int32_t>(slots_.size());
    slots_.push_back({node.feature_id, node.missing_goes_right});
  }
  return static_cast<uint16_t>(slot_of_[key]);
}

// Stores nodes in breadth-first order, so the children of a node are adjacent.
void FlatForest::add_tree(const Tree& tree) {
  const auto first = static_cast<uint32_t>(nodes_.size());
  std::vector<std::pair<int32_t, int32_t>> queue = {{0, 0}};  // nodes of the tree and their depth
  int32_t depth = 0;
  for (size_t i = 0; i < queue.size(); ++i) {
    const auto [id, level] = queue[i];
    const TreeNode& node = tree.nodes[static_cast<size_t>(id)];
    depth = std::max(depth, level);
    if (node.is_leaf()) {
      nodes_.push_back(pack_node(0, UINT16_MAX, static_cast<uint32_t>(nodes_.size())));
    } else {
      const auto next = first + static_cast<uint32_t>(queue.size());
      nodes_.push_back(pack_node(slot_for(node), static_cast<uint16_t>(node.threshold + 1), next));
      queue.emplace_back(node.left_id, level + 1);
      queue.emplace_back(node.right_id, level + 1);
    }
    values_.push_back(node.is_leaf() ? tree.weight * leaf_value(node.leaf, 0) : 0);
  }
  roots_.push_back({static_cast<int32_t>(first), depth});
}

size_t FlatForest::block_bytes() const {
  return std::max<size_t>(slots_.size(), 1) * static_cast<size_t>(kBlock) * sizeof(uint16_t);
}

void FlatForest::add_block(
    const int32_t* const* features, int64_t begin, int64_t n, void* block, float* sums) const {
  auto* shifted = static_cast<uint16_t*>(block);
  for (const Slot& slot : slots_) {
    const int32_t* buckets = features[slot.feature] + begin;
    // Clamping changes no result: all thresholds are below kMaxBuckets.
    for (int64_t i = 0; i < n; ++i) {
      shifted[i] = static_cast<uint16_t>(std::clamp(buckets[i], -1, kMaxBuckets) + 1);
    }
    for (int64_t i = 0; slot.missing_is_last && i < n; ++i) {
      shifted[i] = shifted[i] == 0 ? UINT16_MAX : shifted[i];
    }
    shifted += kBlock;
  }
  traverse(static_cast<uint16_t*>(block), sums);
}

void FlatForest::traverse(const uint16_t* block, float* sums) const {
  const Node* nodes = nodes_.data();
  for (const Root& root : roots_) {
    for (int64_t first = 0; first < kBlock; first += kLanes) {
      const uint16_t* rows = block + first;
      uint32_t id[kLanes];
      std::fill_n(id, kLanes, static_cast<uint32_t>(root.node));
      for (int32_t level = 0; level < root.depth; ++level) {
        each_lane(
            [&](int64_t i) {
              const Node node = nodes[id[i]];
              const uint16_t bucket = rows[(node >> 48) * kBlock + static_cast<uint64_t>(i)];
              id[i] = static_cast<uint32_t>(node) +
                      static_cast<uint32_t>(bucket > static_cast<uint16_t>(node >> 32));
            },
            std::make_integer_sequence<int64_t, kLanes>());
      }
      for (int64_t i = 0; i < kLanes; ++i) sums[first + i] += values_[id[i]];
    }
  }
}

}  // namespace runhooks
