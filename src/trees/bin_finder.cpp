#include "trees/bin_finder.h"

#include <cstddef>
#include <limits>
#include <utility>

#include "kernels/kernels.h"

namespace runhooks {

BinFinder::BinFinder(std::vector<float> boundaries) : boundaries_(std::move(boundaries)) {
  while (boundaries_.size() >= std::size_t{1} << steps_) ++steps_;
  boundaries_.resize((std::size_t{1} << steps_) - 1, std::numeric_limits<float>::infinity());
}

void BinFinder::find(const float* x, int64_t n, int32_t* bins) const {
  kernels().histograms->find_bins(n, x, steps_, boundaries_.data(), bins);
}

}  // namespace runhooks
