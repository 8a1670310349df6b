// ByteForest: shallow trees that a kernel evaluates for a vector register of rows at a time.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "trees/forest.h"

namespace runhooks {

// Stores buckets as one-byte codes. The code is bucket + 1 if the feature has few buckets.
// Otherwise it is the number of the feature's thresholds that are below the bucket.
class ByteForest : public Forest {
 public:
  static bool can_hold(const TreeEnsemble& ensemble);
  explicit ByteForest(const TreeEnsemble& ensemble);

 private:
  struct CodedFeature {
    int32_t feature = 0;
    int32_t max_bucket = 0;      // larger buckets are treated like this one
    uint8_t missing = 0;         // the code of missing values
    std::vector<uint8_t> codes;  // for many buckets: the codes of missing, 0, ..., max_bucket
    uint8_t code_of(int32_t bucket) const;
  };
  static CodedFeature coded_feature(size_t key, const std::set<int32_t>& thresholds);

  void add_tree(const Tree& tree);
  size_t block_bytes() const override;
  void add_block(const int32_t* const* features,
                 int64_t begin,
                 int64_t n,
                 void* block,
                 float* sums) const override;

  std::vector<CodedFeature> coded_features_;
  std::vector<int32_t> coded_feature_index_;  // for each split_key(); -1: unused
  std::vector<ByteTree> trees_;
  std::vector<ByteNode> nodes_;
  std::vector<float> leaves_;
};

}  // namespace runhooks
