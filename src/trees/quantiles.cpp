#include "trees/quantiles.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace runhooks {

namespace {

using Weighted = std::pair<float, float>;
constexpr size_t kMostReserved = size_t{1} << 14;

// Whole numbers that rise with x; -0 is 0.
uint32_t rising(float x) {
  const float sum = x + 0.0f;
  uint32_t bits;
  std::memcpy(&bits, &sum, sizeof(bits));
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// By parts of 11 bits, the lowest first: without comparisons, none of which can be foreseen.
void sort_by_value(std::vector<Weighted>& values) {
  constexpr size_t kFew = 256, kDigits = 3, kBits = 11, kSize = size_t{1} << kBits;
  if (values.size() < kFew) {
    std::sort(values.begin(), values.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return;
  }
  std::vector<uint32_t> starts(kDigits * kSize);
  for (const Weighted& value : values) {
    const uint32_t key = rising(value.first);
    for (size_t d = 0; d < kDigits; ++d) ++starts[d * kSize + (key >> (d * kBits)) % kSize];
  }
  std::vector<Weighted> sorted(values.size());
  for (size_t d = 0; d < kDigits; ++d) {
    uint32_t* const start = starts.data() + d * kSize;
    uint32_t before = 0;
    for (size_t i = 0; i < kSize; ++i) before += std::exchange(start[i], before);
    for (const Weighted& value : values) {
      sorted[start[(rising(value.first) >> (d * kBits)) % kSize]++] = value;
    }
    values.swap(sorted);
  }
}

}  // namespace

QuantileSummary QuantileSummary::of(std::vector<std::pair<float, float>> values) {
  sort_by_value(values);
  QuantileSummary summary;
  summary.entries_.reserve(values.size());
  float before = 0;
  for (size_t i = 0; i < values.size();) {
    QuantileEntry entry;
    entry.value = values[i].first;
    for (; i < values.size() && values[i].first == entry.value; ++i) {
      entry.weight += values[i].second;
    }
    entry.min_rank = before;
    before += entry.weight;
    entry.max_rank = before;
    summary.entries_.push_back(entry);
  }
  return summary;
}

void QuantileSummary::merge(const QuantileSummary& other) {
  if (other.is_empty()) return;
  if (is_empty()) {
    entries_ = other.entries_;
    return;
  }
  const std::vector<QuantileEntry> own = std::move(entries_);
  const std::vector<QuantileEntry>& theirs = other.entries_;
  entries_.clear();
  entries_.reserve(own.size() + theirs.size());
  float own_below = 0, theirs_below = 0;
  const auto put = [this](const QuantileEntry& entry, float below, float above) {
    entries_.push_back(
        {entry.value, entry.weight, entry.min_rank + below, entry.max_rank + above});
  };
  size_t i = 0, j = 0;
  while (i < own.size() && j < theirs.size()) {
    const QuantileEntry &a = own[i], &b = theirs[j];
    if (a.value < b.value) {
      put(a, theirs_below, b.prev_max_rank());
    } else if (b.value < a.value) {
      put(b, own_below, a.prev_max_rank());
    } else {
      entries_.push_back(
          {a.value, a.weight + b.weight, a.min_rank + b.min_rank, a.max_rank + b.max_rank});
    }
    const bool takes_own = !(b.value < a.value), takes_theirs = !(a.value < b.value);
    if (takes_own) {
      own_below = a.next_min_rank();
      ++i;
    }
    if (takes_theirs) {
      theirs_below = b.next_min_rank();
      ++j;
    }
  }
  for (; i < own.size(); ++i) put(own[i], theirs_below, theirs.back().max_rank);
  for (; j < theirs.size(); ++j) put(theirs[j], own_below, own.back().max_rank);
}

void QuantileSummary::compress(int64_t size, double least_error) {
  size = std::max<int64_t>(size, 2);
  const auto count = static_cast<int64_t>(entries_.size());
  if (count <= size) return;
  const double largest_gap =
      total_weight() * std::max(1.0 / static_cast<double>(size), least_error);
  // `credit` spreads what is dropped over the whole range
  int64_t credit = 0;
  size_t kept = 1, at = 0;
  while (at + 1 < entries_.size()) {
    size_t next = at + 1;
    while (next < entries_.size() && credit < count &&
           entries_[next].prev_max_rank() - entries_[at].next_min_rank() <= largest_gap) {
      credit += size;
      ++next;
    }
    at = next == at + 1 ? at + 1 : next - 1;
    entries_[kept++] = entries_[at];
    credit -= count;
  }
  entries_.resize(kept);
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
  QuantileSummary fewer = *this;
  const auto error_of_both = static_cast<float>(error() + 1.0 / static_cast<double>(count));
  fewer.compress(count, error_of_both);
  for (const QuantileEntry& entry : fewer.entries_) values.push_back(entry.value);
  return values;
}

std::vector<float> QuantileSummary::quantiles(int64_t count) const {
  std::vector<float> values;
  if (entries_.empty()) return values;
  count = std::max<int64_t>(count, 2);
  size_t at = 0;
  for (int64_t rank = 0; rank <= count; ++rank) {
    const float twice = 2 * (static_cast<float>(rank) * entries_.back().max_rank /
                             static_cast<float>(count));
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
      const double wanted = std::ceil(static_cast<double>(level) / epsilon_) + 1;
      block_size_ = std::max<int64_t>(2, static_cast<int64_t>(std::min(wanted, 1e9)));
    }
  }
  buffer_size_ = static_cast<size_t>(std::min(block_size_ * 2, max_elements));
}

void QuantileStream::add(float value, float weight) {
  if (!(weight > 0) || std::isnan(value)) return;
  // a summary has taken the last one; an exact stream has no bound that memory could hold
  if (buffer_.empty()) buffer_.reserve(std::min(buffer_size_, kMostReserved));
  buffer_.emplace_back(value, weight);
  if (buffer_.size() >= buffer_size_) flush_buffer();
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
    QuantileSummary& here = levels_[level];
    const bool was_empty = here.is_empty();
    summary.merge(here);
    if (was_empty || static_cast<int64_t>(summary.size()) <= block_size_ + 1) {
      here = std::move(summary);
      return;
    }
    summary.compress(block_size_, epsilon_);
    here = QuantileSummary();
  }
}

const std::vector<QuantileSummary>& QuantileStream::levels() {
  flush_buffer();
  return levels_;
}

QuantileSummary QuantileStream::take() {
  flush_buffer();
  QuantileSummary all;
  for (const QuantileSummary& level : levels_) all.merge(level);
  levels_.clear();
  return all;
}

QuantileSummary summary_of_values(
    const float* values, int64_t n, const float* weights, bool one_weight, double epsilon) {
  QuantileStream stream(epsilon, n + 1);
  for (int64_t i = 0; i < n; ++i) stream.add(values[i], weights[one_weight ? 0 : i]);
  return stream.take();
}

}  // namespace runhooks
