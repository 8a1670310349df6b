// Forest: trees of one logit in a layout for fast batch prediction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/kernels.h"
#include "trees/ensemble.h"

namespace runhooks {

// Combines the feature of a split and the direction of missing values in one index.
inline size_t split_key(const TreeNode& node) {
  return static_cast<size_t>(node.feature_id) * 2 + node.missing_goes_right;
}

class Forest {
 public:
  virtual ~Forest() = default;
  // Adds the leaf values of rows [first, first + n) to `logits`. `features` has an array of buckets
  // per feature.
  void add(const int32_t* const* features, int64_t first, int64_t n, float* logits) const;

 protected:
  static constexpr int64_t kBlock = kForestRows;

 private:
  virtual size_t block_bytes() const = 0;
  // Adds the leaf values of rows [begin, begin + n) to `sums`. It has room for kBlock rows, and
  // the elements from n on may be overwritten. `block` is scratch memory of block_bytes().
  virtual void add_block(
      const int32_t* const* features, int64_t begin, int64_t n, void* block, float* sums) const = 0;
};

// Returns the trees in the fastest layout that supports all of them, or NULL.
std::unique_ptr<Forest> forest_of(const TreeEnsemble& ensemble);

}  // namespace runhooks
