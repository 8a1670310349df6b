// Binner, the bins of many numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace runhooks {

class Binner {
 public:
  // Of the upper edges of bins, which rise.
  explicit Binner(std::vector<float> edges);
  // As TensorFlow: what is above all edges is in the last bin, what is no number in the first.
  void find(const float* x, int64_t n, int32_t* bins) const;

 private:
  int32_t steps_;
  std::vector<float> heap_;  // as the kernel reads them
};

}  // namespace runhooks
