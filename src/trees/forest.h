// Forest, trees of one logit in a form that answers many rows fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/kernels.h"
#include "trees/ensemble.h"

namespace runhooks {

// The number of what a node asks: a feature, for each of the two ways that what is missing may go.
inline size_t asked_key(const TreeNode& node) {
  return static_cast<size_t>(node.feature_id) * 2 + node.missing_goes_right;
}

class Forest {
 public:
  virtual ~Forest() = default;
  // Adds what the trees say of rows [first, first + n), tree by tree; features[f] are the buckets of
  // a feature.
  void add(const int32_t* const* features, int64_t first, int64_t n, float* logits) const;

 protected:
  static constexpr int64_t kBlock = kForestRows;

 private:
  // How many bytes a form needs for what it asks about kBlock rows.
  virtual size_t block_bytes() const = 0;
  // Adds to the sums of n rows from `begin` on. Those behind, up to kBlock, may get anything.
  virtual void add_block(const int32_t* const* features,
                         int64_t begin,
                         int64_t n,
                         void* block,
                         float* sums) const = 0;
};

// The fastest form that has a place for all the trees; NULL where none has.
std::unique_ptr<Forest> forest_of(const TreeEnsemble& ensemble);

}  // namespace runhooks
