#include "session/parallelism_tuner.h"

#include <algorithm>
#include <numeric>

namespace runhooks {

namespace {

// Runs between two rounds, so that measuring slow modes costs little.
constexpr int kRest = 120;
// Ignores the slowest samples of a mode, which include delays from other processes.
constexpr int kIgnored = 2;
// Minimum gain for switching modes, in percent; smaller differences are noise.
constexpr int64_t kGain = 3;

}  // namespace

ParallelismTuner::ParallelismTuner(bool has_levels)
    : first_(has_levels ? 0 : 1), best_(static_cast<ParallelMode>(first_)) {}

void ParallelismTuner::took(int64_t ns) {
  if (!is_trying()) {
    --left_;
    return;
  }
  times_[static_cast<size_t>(turn())][static_cast<size_t>(round_ % kRounds)] = ns;
  if (++tried_ < kWays - first_) return;
  tried_ = 0;
  if (++round_ < kRounds) return;  // the first rounds run back to back
  choose();
  left_ = kRest;
}

void ParallelismTuner::choose() {
  std::array<int64_t, kWays> sums{};
  for (size_t way = static_cast<size_t>(first_); way < kWays; ++way) {
    auto times = times_[way];
    std::sort(times.begin(), times.end());
    sums[way] = std::accumulate(times.begin(), times.end() - kIgnored, int64_t{0});
  }
  const auto fastest = std::min_element(sums.begin() + first_, sums.end());
  if (*fastest * (100 + kGain) < sums[static_cast<size_t>(best_)] * 100) {
    best_ = static_cast<ParallelMode>(fastest - sums.begin());
  }
}

}  // namespace runhooks
