// What lives here: quantile_cuts(), where a column of numbers is cut into bins; bin_of().
// Who may use it: whoever bins columns.
// What it must not know: how bins are kept.
#pragma once

#include <cstdint>
#include <vector>

namespace runhooks {

// Rising boundaries that cut the numbers into at most `max_bins` bins of about as many numbers
// each, exactly: a value that is a bin's share by itself has one alone. No boundary where all are
// equal. A number lies in the bin whose number is how many boundaries are below it; NaN counts
// nowhere.
std::vector<float> quantile_cuts(const std::vector<float>& values, int32_t max_bins);

// The bins of many numbers: how many boundaries are below each; -1 for NaN.
class BinFinder {
 public:
  explicit BinFinder(const std::vector<float>& cuts);
  void find(const float* x, int64_t n, int32_t* bins) const;

 private:
  int32_t steps_ = 0;
  std::vector<float> bounds_;
};

}  // namespace runhooks
