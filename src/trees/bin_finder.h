// What lives here: BinFinder, the bins of many numbers.
// Who may use it: whoever bins columns.
// What it must not know: how bins are kept.
#pragma once

#include <cstdint>
#include <vector>

namespace runhooks {

class BinFinder {
 public:
  // Of boundaries that rise.
  explicit BinFinder(std::vector<float> boundaries);
  // How many boundaries are below each number; -1 for NaN.
  void find(const float* x, int64_t n, int32_t* bins) const;

 private:
  int32_t steps_ = 0;
  std::vector<float> boundaries_;
};

}  // namespace runhooks
