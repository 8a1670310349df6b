#include "trees/byte_forest.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

namespace runhooks {

namespace {

// Limits of a threshold, and of the distinct thresholds per split_key() (feature and direction of
// missing values).
constexpr int32_t kMaxThreshold = UINT16_MAX, kMaxThresholdsPerKey = UINT8_MAX;
// The threshold of a split that sends all codes left.
constexpr uint8_t kAlwaysLeft = UINT8_MAX;
// If no bucket of a feature exceeds this limit, its codes are bucket + 1, and 0 or 255 for missing
// values.
constexpr int32_t kMaxPlainBucket = UINT8_MAX - 2;

using Thresholds = std::map<size_t, std::set<int32_t>>;  // the key is a split_key()

Thresholds thresholds_of(const TreeEnsemble& ensemble) {
  Thresholds all;
  for (const Tree& tree : ensemble.trees) {
    for (const TreeNode& node : tree.nodes) {
      if (!node.is_leaf()) all[split_key(node)].insert(node.threshold);
    }
  }
  return all;
}

bool fits_bytes(const TreeNode& node) {
  if (node.is_leaf()) return node.leaf.size() <= 1;
  return node.kind == TreeNode::Kind::kBucketized && node.threshold >= -1 &&
         node.threshold < kMaxThreshold;
}

// Returns the depth, at least 1: a tree that is only a root gets a split that sends all rows left.
int32_t depth_of(const Tree& tree) {
  std::vector<int32_t> depth(tree.nodes.size(), 0);
  int32_t max_depth = 1;
  // One pass is enough, because children follow their parents.
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[i];
    if (node.is_leaf()) continue;
    for (const int32_t child : {node.left_id, node.right_id}) {
      depth[static_cast<size_t>(child)] = depth[i] + 1;
      max_depth = std::max(max_depth, depth[i] + 1);
    }
  }
  return max_depth;
}

}  // namespace

bool ByteForest::can_hold(const TreeEnsemble& ensemble) {
  for (const Tree& tree : ensemble.trees) {
    if (!std::all_of(tree.nodes.begin(), tree.nodes.end(), fits_bytes)) return false;
    if (depth_of(tree) > kMaxByteTreeDepth) return false;
  }
  const Thresholds all = thresholds_of(ensemble);
  return all.size() <= UINT16_MAX && std::all_of(all.begin(), all.end(), [](const auto& entry) {
           return entry.second.size() <= static_cast<size_t>(kMaxThresholdsPerKey);
         });
}

ByteForest::CodedFeature ByteForest::coded_feature(size_t key,
                                                   const std::set<int32_t>& thresholds) {
  const bool missing_goes_right = key % 2 == 1;
  CodedFeature coded;
  coded.feature = static_cast<int32_t>(key / 2);
  coded.max_bucket = *thresholds.rbegin() + 1;
  if (coded.max_bucket <= kMaxPlainBucket) {
    coded.missing = missing_goes_right ? UINT8_MAX : 0;
    return coded;
  }
  coded.missing = static_cast<uint8_t>(missing_goes_right ? thresholds.size() : 0);
  coded.codes.push_back(coded.missing);
  size_t below = 0;
  auto next = thresholds.begin();
  for (int32_t bucket = 0; bucket <= coded.max_bucket; ++bucket) {
    for (; next != thresholds.end() && *next < bucket; ++next) ++below;
    coded.codes.push_back(static_cast<uint8_t>(below));
  }
  return coded;
}

uint8_t ByteForest::CodedFeature::code_of(int32_t bucket) const {
  return codes.empty() ? static_cast<uint8_t>(bucket + 1) : codes[static_cast<size_t>(bucket) + 1];
}

ByteForest::ByteForest(const TreeEnsemble& ensemble) {
  for (const auto& [key, thresholds] : thresholds_of(ensemble)) {
    if (coded_feature_index_.size() <= key) coded_feature_index_.resize(key + 1, -1);
    coded_feature_index_[key] = static_cast<int32_t>(coded_features_.size());
    coded_features_.push_back(coded_feature(key, thresholds));
  }
  for (const Tree& tree : ensemble.trees) add_tree(tree);
}

// Completes the tree: a leaf above the last layer becomes splits that send all rows left.
void ByteForest::add_tree(const Tree& tree) {
  const int32_t depth = depth_of(tree);
  const size_t num_splits = (size_t{1} << depth) - 1;
  trees_.push_back(
      {depth, static_cast<int32_t>(nodes_.size()), static_cast<int32_t>(leaves_.size())});
  std::vector<int32_t> ids(2 * num_splits + 1, 0);  // node in `tree`, by node in the complete tree
  for (size_t i = 0; i < num_splits; ++i) {
    const TreeNode& node = tree.nodes[static_cast<size_t>(ids[i])];
    if (node.is_leaf()) {
      nodes_.push_back(byte_node(0, kAlwaysLeft));
      ids[2 * i + 1] = ids[2 * i + 2] = ids[i];
      continue;
    }
    const auto coded = static_cast<uint32_t>(coded_feature_index_[split_key(node)]);
    const uint8_t next_code = coded_features_[coded].code_of(node.threshold + 1);
    nodes_.push_back(byte_node(coded, static_cast<uint8_t>(next_code - 1)));
    ids[2 * i + 1] = node.left_id;
    ids[2 * i + 2] = node.right_id;
  }
  for (size_t i = num_splits; i < ids.size(); ++i) {
    leaves_.push_back(tree.weight * leaf_value(tree.nodes[static_cast<size_t>(ids[i])].leaf, 0));
  }
}

size_t ByteForest::block_bytes() const {
  // At least one feature, because splits that send all rows left also read a code.
  return std::max<size_t>(coded_features_.size(), 1) * static_cast<size_t>(kBlock);
}

void ByteForest::add_block(
    const int32_t* const* features, int64_t begin, int64_t n, void* block, float* sums) const {
  auto* codes = static_cast<uint8_t*>(block);
  for (const CodedFeature& coded : coded_features_) {
    const int32_t* buckets = features[coded.feature] + begin;
    if (coded.codes.empty()) {
      kernels().histograms->encode(n, buckets, coded.max_bucket, coded.missing, codes);
    } else {
      for (int64_t i = 0; i < n; ++i)
        codes[i] = coded.code_of(std::clamp(buckets[i], -1, coded.max_bucket));
    }
    codes += kBlock;
  }
  kernels().histograms->add_trees(static_cast<int64_t>(trees_.size()), trees_.data(), nodes_.data(),
                                  leaves_.data(), static_cast<uint8_t*>(block), sums);
}

}  // namespace runhooks
