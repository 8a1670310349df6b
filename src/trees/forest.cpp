#include "trees/forest.h"

#include <algorithm>
#include <vector>

#include "trees/byte_forest.h"
#include "trees/flat_forest.h"

namespace runhooks {

void Forest::add(const int32_t* const* features, int64_t first, int64_t n, float* logits) const {
  std::vector<uint64_t> block(block_bytes() / sizeof(uint64_t) + 1);
  for (int64_t begin = first; begin < first + n; begin += kBlock) {
    const int64_t count = std::min(kBlock, first + n - begin);
    float sums[kBlock] = {};
    std::copy_n(logits + begin, count, sums);
    add_block(features, begin, count, block.data(), sums);
    std::copy_n(sums, count, logits + begin);
  }
}

std::unique_ptr<Forest> forest_of(const TreeEnsemble& ensemble) {
  if (ByteForest::can_hold(ensemble)) return std::make_unique<ByteForest>(ensemble);
  if (FlatForest::can_hold(ensemble)) return std::make_unique<FlatForest>(ensemble);
  return nullptr;
}

}  // namespace runhooks
