// ByteForest, trees that are not deep, whose questions are asked of a register of rows at once.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "trees/forest.h"

namespace runhooks {

// In place of a bucket a row has a code that a byte holds: the number after the bucket's where these are
// few, else how many of the thresholds that are asked for lie below it.
class ByteForest : public Forest {
 public:
  static bool can_hold(const TreeEnsemble& ensemble);
  explicit ByteForest(const TreeEnsemble& ensemble);

 private:
  // A feature, and which way goes what is missing.
  struct Place {
    int32_t feature = 0;
    int32_t most = 0;     // buckets beyond it are as this one
    uint8_t missing = 0;  // the code of what is missing
    std::vector<uint8_t> codes;  // of many buckets, from that of what is missing to `most`
    uint8_t code_of(int32_t bucket) const;
  };
  static Place place_of(size_t key, const std::set<int32_t>& thresholds);

  void add_tree(const Tree& tree);
  size_t block_bytes() const override;
  void add_block(const int32_t* const* features,
                 int64_t begin,
                 int64_t n,
                 void* block,
                 float* sums) const override;

  std::vector<Place> places_;
  std::vector<int32_t> number_of_;  // two of each feature; -1: not asked
  std::vector<ByteTree> trees_;
  std::vector<ByteNode> nodes_;
  std::vector<float> leaves_;
};

}  // namespace runhooks
