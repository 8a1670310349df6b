#include "trees/binner.h"

#include <cstddef>
#include <limits>

#include "kernels/kernels.h"

namespace runhooks {

namespace {

// Shorter searches would not fill the vector registers.
constexpr int32_t kMinSteps = 4;

// Stores `count` sorted edges from `first` on as a heap with root `at`.
void heap_up(
    const std::vector<float>& sorted, size_t first, size_t count, size_t at, std::vector<float>* heap) {
  if (count == 0) return;
  const size_t half = count / 2;
  (*heap)[at] = sorted[first + half];
  heap_up(sorted, first, half, 2 * at, heap);
  heap_up(sorted, first + half + 1, half, 2 * at + 1, heap);
}

}  // namespace

Binner::Binner(std::vector<float> edges) : steps_(kMinSteps) {
  if (!edges.empty()) edges.pop_back();
  while (edges.size() >= std::size_t{1} << steps_) ++steps_;
  const std::size_t count = (std::size_t{1} << steps_) - 1;
  edges.resize(count, std::numeric_limits<float>::infinity());
  heap_.resize(count + 1);
  heap_up(edges, 0, count, 1, &heap_);
}

void Binner::find(const float* x, int64_t n, int32_t* bins) const {
  kernels().histograms->find_bins(n, x, steps_, heap_.data(), bins);
}

}  // namespace runhooks
