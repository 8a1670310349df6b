// What lives here: quantile_cuts(): sorting by digits, and a walk over the runs of equal numbers.
// Who may use it: quantile_cuts.h.
// What it must not know: where the numbers come from.
#include "trees/quantile_cuts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/kernels.h"

namespace runhooks {

namespace {

// The order of these whole numbers is that of the floats.
uint32_t key_of(float x) {
  if (x == 0) x = 0;  // both zeros are one
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

float number_of(uint32_t key) {
  const uint32_t bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

void sort_keys(std::vector<uint32_t>& keys) {
  constexpr size_t kFewKeys = 4096;
  if (keys.size() < kFewKeys) return std::sort(keys.begin(), keys.end());
  constexpr int kDigit = 11, kDigits = 3;
  constexpr uint32_t kMask = (1u << kDigit) - 1;
  std::vector<std::array<size_t, 1u << kDigit>> counts(kDigits);
  for (auto& digit : counts) digit.fill(0);
  for (uint32_t key : keys) {
    for (int d = 0; d < kDigits; ++d) ++counts[d][(key >> (kDigit * d)) & kMask];
  }
  std::vector<uint32_t> other(keys.size());
  for (int d = 0; d < kDigits; ++d) {
    size_t begin = 0;
    bool one_digit = false;
    for (size_t& count : counts[d]) {
      one_digit = one_digit || count == keys.size();
      begin += std::exchange(count, begin);
    }
    if (one_digit) continue;
    for (uint32_t key : keys) other[counts[d][(key >> (kDigit * d)) & kMask]++] = key;
    keys.swap(other);
  }
}

// Between two neighbours: `low` lies below or on it, `high` above.
float boundary_between(float low, float high) {
  const float middle = static_cast<float>((static_cast<double>(low) + high) / 2);
  return middle >= low && middle < high ? middle : low;
}

}  // namespace

std::vector<float> quantile_cuts(const std::vector<float>& values, int32_t max_bins) {
  std::vector<uint32_t> keys;
  keys.reserve(values.size());
  for (float x : values) {
    if (!std::isnan(x)) keys.push_back(key_of(x));
  }
  sort_keys(keys);
  std::vector<float> cuts;
  if (max_bins < 2 || keys.empty()) return cuts;
  const size_t n = keys.size();
  size_t distinct = 1;
  for (size_t i = 1; i < n; ++i) distinct += keys[i] != keys[i - 1];
  const bool all_apart = distinct <= static_cast<size_t>(max_bins);
  // A bin's share is what is left over the bins that are left: a frequent number takes its own out.
  size_t begin = 0, bins_left = static_cast<size_t>(max_bins), run_end;
  const auto share = [&] { return static_cast<double>(n - begin) / static_cast<double>(bins_left); };
  const auto cut_before = [&](size_t at) {
    cuts.push_back(boundary_between(number_of(keys[at - 1]), number_of(keys[at])));
    begin = at;
    --bins_left;
  };
  for (size_t i = 0; i < n && bins_left > 1; i = run_end) {
    for (run_end = i + 1; run_end < n && keys[run_end] == keys[i];) ++run_end;
    const bool frequent = static_cast<double>(run_end - i) >= share();
    if (frequent && !all_apart && 2 * static_cast<double>(i - begin) >= share()) cut_before(i);
    const bool is_full = all_apart || static_cast<double>(run_end - begin) >= share();
    if (is_full && bins_left > 1 && run_end < n) cut_before(run_end);
  }
  return cuts;
}

BinFinder::BinFinder(const std::vector<float>& cuts) : bounds_(cuts) {
  while (cuts.size() >= size_t{1} << steps_) ++steps_;
  bounds_.resize((size_t{1} << steps_) - 1, std::numeric_limits<float>::infinity());
}

void BinFinder::find(const float* x, int64_t n, int32_t* bins) const {
  kernels().histograms->find_bins(n, x, steps_, bounds_.data(), bins);
}

}  // namespace runhooks
