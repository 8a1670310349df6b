#include "trees/quantiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace runhooks {

namespace {

using WeightedValue = std::pair<float, float>;
constexpr size_t kMaxReserved = size_t{1} << 14;

// Maps floats to integers that have the same order; -0 equals 0.
uint32_t to_ordered_bits(float x) {
  const float sum = x + 0.0f;
  uint32_t bits;
  std::memcpy(&bits, &sum, sizeof(bits));
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

float from_ordered_bits(uint32_t key) {
  const uint32_t bits = key & 0x80000000u ? key ^ 0x80000000u : ~key;
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

uint32_t key_of(uint32_t key) { return key; }
uint32_t key_of(const WeightedValue& value) { return to_ordered_bits(value.first); }

// Radix sort with digits of 11 bits, which avoids mispredicted branches.
template <typename T>
void sort_by_value(std::vector<T>& values) {
  constexpr size_t kMinRadixSize = 256, kDigits = 3, kBits = 11, kSize = size_t{1} << kBits;
  if (values.size() < kMinRadixSize) {
    std::sort(values.begin(), values.end(),
              [](const T& a, const T& b) { return key_of(a) < key_of(b); });
    return;
  }
  std::array<uint32_t, kDigits * kSize> starts{};
  for (const T& value : values) {
    const uint32_t key = key_of(value);
    for (size_t d = 0; d < kDigits; ++d) ++starts[d * kSize + (key >> (d * kBits)) % kSize];
  }
  std::vector<T> sorted(values.size());
  for (size_t d = 0; d < kDigits; ++d) {
    uint32_t* const start = starts.data() + d * kSize;
    uint32_t before = 0;
    for (size_t i = 0; i < kSize; ++i) before += std::exchange(start[i], before);
    for (const T& value : values) {
      sorted[start[(key_of(value) >> (d * kBits)) % kSize]++] = value;
    }
    values.swap(sorted);
  }
}

template <typename T, typename Weight>
std::vector<QuantileEntry> entries_of(const std::vector<T>& values, const Weight& weight_of) {
  std::vector<QuantileEntry> entries(values.size());
  QuantileEntry* to = entries.data();
  float before = 0;
  for (size_t i = 0; i < values.size(); ++to) {
    const uint32_t key = key_of(values[i]);
    float weight = weight_of(i);
    while (++i < values.size() && key_of(values[i]) == key) weight += weight_of(i);
    *to = {from_ordered_bits(key), weight, before, before + weight};
    before = to->max_rank;
  }
  entries.resize(static_cast<size_t>(to - entries.data()));
  return entries;
}

// Returns use_a ? a : b without a branch.
float select(bool use_a, float a, float b) {
  uint32_t bits[2];
  std::memcpy(&bits[0], &a, sizeof(a));
  std::memcpy(&bits[1], &b, sizeof(b));
  const uint32_t mask = 0u - static_cast<uint32_t>(use_a);
  const uint32_t chosen = (bits[0] & mask) | (bits[1] & ~mask);
  float x;
  std::memcpy(&x, &chosen, sizeof(x));
  return x;
}

}  // namespace

QuantileSummary QuantileSummary::of(std::vector<std::pair<float, float>> values) {
  sort_by_value(values);
  return QuantileSummary(entries_of(values, [&](size_t i) { return values[i].second; }));
}

// Merges two sorted summaries without branches, because their order is unpredictable.
void QuantileSummary::merge(const QuantileSummary& other) {
  if (other.is_empty()) return;
  if (is_empty()) {
    entries_ = other.entries_;
    return;
  }
  const std::vector<QuantileEntry> entries_a = std::move(entries_);
  const std::vector<QuantileEntry>& entries_b = other.entries_;
  entries_ = std::vector<QuantileEntry>(entries_a.size() + entries_b.size());
  QuantileEntry* to = entries_.data();
  float min_rank_a = 0, min_rank_b = 0;
  const QuantileEntry *a = entries_a.data(), *const end_a = a + entries_a.size();
  const QuantileEntry *b = entries_b.data(), *const end_b = b + entries_b.size();
  while (a < end_a && b < end_b) {
    const bool takes_a = !(b->value < a->value), takes_b = !(a->value < b->value);
    *to++ = {select(takes_a, a->value, b->value),
             select(takes_a, a->weight, 0) + select(takes_b, b->weight, 0),
             select(takes_a, a->min_rank, min_rank_a) + select(takes_b, b->min_rank, min_rank_b),
             select(takes_a, a->max_rank, a->prev_max_rank()) +
                 select(takes_b, b->max_rank, b->prev_max_rank())};
    min_rank_a = select(takes_a, a->next_min_rank(), min_rank_a);
    min_rank_b = select(takes_b, b->next_min_rank(), min_rank_b);
    a += takes_a;
    b += takes_b;
  }
  const auto put = [&to](const QuantileEntry& entry, float below, float above) {
    *to++ = {entry.value, entry.weight, entry.min_rank + below, entry.max_rank + above};
  };
  for (; a < end_a; ++a) put(*a, min_rank_b, entries_b.back().max_rank);
  for (; b < end_b; ++b) put(*b, min_rank_a, entries_a.back().max_rank);
  entries_.resize(static_cast<size_t>(to - entries_.data()));
}

void QuantileSummary::compress(int64_t size, double min_error) {
  size = std::max<int64_t>(size, 2);
  const auto count = static_cast<int64_t>(entries_.size());
  if (count <= size) return;
  const double largest_gap = total_weight() * std::max(1.0 / static_cast<double>(size), min_error);
  // `credit` spreads the dropped entries evenly: each entry adds `size`, a kept one takes `count`.
  int64_t credit = 0;
  size_t num_kept = 1, at = 0;
  while (at + 1 < entries_.size()) {
    size_t next = at + 1;
    while (next < entries_.size() && credit < count &&
           entries_[next].prev_max_rank() - entries_[at].next_min_rank() <= largest_gap) {
      credit += size;
      ++next;
    }
    at = next == at + 1 ? at + 1 : next - 1;
    entries_[num_kept++] = entries_[at];
    credit -= count;
  }
  entries_.resize(num_kept);
}

double QuantileSummary::error() const {
  if (entries_.empty()) return 0;
  float largest = 0;
  for (size_t i = 1; i < entries_.size(); ++i) {
    const QuantileEntry &entry = entries_[i], &before = entries_[i - 1];
    largest = std::max({largest, entry.max_rank - entry.min_rank - entry.weight,
                        entry.prev_max_rank() - before.next_min_rank()});
  }
  return static_cast<double>(largest) / total_weight();
}

std::vector<float> QuantileSummary::boundaries(int64_t count) const {
  std::vector<float> values;
  if (entries_.empty()) return values;
  QuantileSummary compressed = *this;
  const auto min_error = static_cast<float>(error() + 1.0 / static_cast<double>(count));
  compressed.compress(count, min_error);
  for (const QuantileEntry& entry : compressed.entries_) values.push_back(entry.value);
  return values;
}

std::vector<float> QuantileSummary::quantiles(int64_t count) const {
  std::vector<float> values;
  if (entries_.empty()) return values;
  count = std::max<int64_t>(count, 2);
  size_t at = 0;
  for (int64_t rank = 0; rank <= count; ++rank) {
    const float twice =
        2 * (static_cast<float>(rank) * entries_.back().max_rank / static_cast<float>(count));
    size_t next = at + 1;
    while (next < entries_.size() && twice >= entries_[next].min_rank + entries_[next].max_rank) {
      ++next;
    }
    at = next - 1;
    const bool is_here = next == entries_.size() ||
                         twice < entries_[at].next_min_rank() + entries_[next].prev_max_rank();
    values.push_back(entries_[is_here ? at : next].value);
  }
  return values;
}

QuantileStream::QuantileStream(double epsilon, int64_t max_elements) : epsilon_(epsilon) {
  max_elements = std::max<int64_t>(max_elements, 2);
  if (epsilon_ <= std::numeric_limits<double>::epsilon()) {
    block_size_ = max_elements;
  } else {
    for (int64_t level = 1; level < 62 && (block_size_ << level) < max_elements; ++level) {
      const double size = std::ceil(static_cast<double>(level) / epsilon_) + 1;
      block_size_ = std::max<int64_t>(2, static_cast<int64_t>(std::min(size, 1e9)));
    }
  }
  buffer_size_ = static_cast<size_t>(std::min(block_size_ * 2, max_elements));
}

void QuantileStream::add(float value, float weight) {
  if (!(weight > 0) || std::isnan(value)) return;
  // A flush moves the buffer away, so it is allocated again. The cap is for exact streams, whose
  // `buffer_size_` is unlimited.
  if (buffer_.empty()) buffer_.reserve(std::min(buffer_size_, kMaxReserved));
  buffer_.emplace_back(value, weight);
  if (buffer_.size() >= buffer_size_) flush_buffer();
}

void QuantileStream::add_all(const float* values, int64_t n, float weight) {
  flush_buffer();
  if (!(weight > 0)) return;
  std::vector<uint32_t> keys;
  const auto flush = [&] {
    sort_by_value(keys);
    add(QuantileSummary(entries_of(keys, [weight](size_t) { return weight; })));
    keys.clear();
  };
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(values[i])) continue;
    keys.push_back(to_ordered_bits(values[i]));
    if (keys.size() >= buffer_size_) flush();
  }
  if (!keys.empty()) flush();
}

void QuantileStream::add(QuantileSummary summary) {
  summary.compress(block_size_, epsilon_);
  propagate(std::move(summary));
}

void QuantileStream::flush_buffer() {
  if (buffer_.empty()) return;
  add(QuantileSummary::of(std::move(buffer_)));
  buffer_.clear();
}

void QuantileStream::propagate(QuantileSummary summary) {
  if (summary.is_empty()) return;
  for (size_t level = 0;; ++level) {
    if (levels_.size() <= level) levels_.emplace_back();
    QuantileSummary& at_level = levels_[level];
    const bool was_empty = at_level.is_empty();
    summary.merge(at_level);
    if (was_empty || static_cast<int64_t>(summary.size()) <= block_size_ + 1) {
      at_level = std::move(summary);
      return;
    }
    summary.compress(block_size_, epsilon_);
    at_level = QuantileSummary();
  }
}

const std::vector<QuantileSummary>& QuantileStream::levels() {
  flush_buffer();
  return levels_;
}

QuantileSummary QuantileStream::take() {
  flush_buffer();
  QuantileSummary merged;
  for (const QuantileSummary& level : levels_) merged.merge(level);
  levels_.clear();
  return merged;
}

QuantileSummary summary_of_values(
    const float* values, int64_t n, const float* weights, bool has_single_weight, double epsilon) {
  QuantileStream stream(epsilon, n + 1);
  if (has_single_weight) {
    stream.add_all(values, n, weights[0]);
  } else {
    for (int64_t i = 0; i < n; ++i) stream.add(values[i], weights[i]);
  }
  return stream.take();
}

}  // namespace runhooks
