// Forest: trees of one logit in a layout for fast batch prediction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/kernels.h"
#include "trees/ensemble.h"

namespace runhooks {

// A feature and the direction of its missing values as one index.
inline size_t split_key(const TreeNode& node) {
  return static_cast<size_t>(node.feature_id) * 2 + node.missing_goes_right;
}

class Forest {
 public:
  virtual ~Forest() = default;
  // Adds the leaves of rows [first, first + n). `features` has a column of buckets per feature.
  void add(const int32_t* const* features, int64_t first, int64_t n, float* logits) const;

 protected:
  static constexpr int64_t kBlock = kForestRows;

 private:
  virtual size_t block_bytes() const = 0;
  // Adds to the sums of n rows from `begin` on. May overwrite the unused rest of kBlock sums.
  virtual void add_block(
      const int32_t* const* features, int64_t begin, int64_t n, void* block, float* sums) const = 0;
};

// The fastest layout that supports all the trees, or NULL.
std::unique_ptr<Forest> forest_of(const TreeEnsemble& ensemble);

}  // namespace runhooks
