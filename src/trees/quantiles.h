// QuantileStream, approximate quantiles of a stream of weighted values in little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace runhooks {

// A value with the ranks that it may have: the weight below it is at least min_rank, and with it at
// most max_rank.
struct QuantileEntry {
  float value = 0, weight = 0, min_rank = 0, max_rank = 0;
  float next_min_rank() const { return min_rank + weight; }
  float prev_max_rank() const { return max_rank - weight; }
};

// Entries by value (Zhang and Wang 2007, "A fast algorithm for approximate quantiles in high speed
// data streams", with weights).
class QuantileSummary {
 public:
  QuantileSummary() = default;
  explicit QuantileSummary(std::vector<QuantileEntry> entries) : entries_(std::move(entries)) {}
  // Of values with their weights, in any order.
  static QuantileSummary of(std::vector<std::pair<float, float>> values);

  const std::vector<QuantileEntry>& entries() const { return entries_; }
  bool is_empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  float total_weight() const { return entries_.empty() ? 0 : entries_.back().max_rank; }

  void merge(const QuantileSummary& other);
  // Down to about `size` entries, none farther from the next than `least_error` of all weight.
  void compress(int64_t size, double least_error);
  // The largest part of all weight by which a rank may be off.
  double error() const;
  // At most about `count` of the values, so that as much lies between any two.
  std::vector<float> boundaries(int64_t count) const;
  // The values at `count` + 1 equally spaced ranks.
  std::vector<float> quantiles(int64_t count) const;

 private:
  std::vector<QuantileEntry> entries_;
};

// Of values one after another, each with its weight or all with one.
QuantileSummary summary_of_values(
    const float* values, int64_t n, const float* weights, bool one_weight, double epsilon);

class QuantileStream {
 public:
  // `max_elements` are expected at most; more only make it less exact.
  QuantileStream(double epsilon, int64_t max_elements);
  void add(float value, float weight);
  // The same of many with one weight.
  void add_all(const float* values, int64_t n, float weight);
  void add(QuantileSummary summary);
  // All that was added; the stream is empty afterwards.
  QuantileSummary take();
  // The same as a state: what has been added so far, level by level.
  const std::vector<QuantileSummary>& levels();
  void set_levels(std::vector<QuantileSummary> levels) { levels_ = std::move(levels); }

 private:
  void flush_buffer();
  void propagate(QuantileSummary summary);

  double epsilon_;
  int64_t block_size_ = 2;
  size_t buffer_size_ = 2;
  std::vector<std::pair<float, float>> buffer_;
  std::vector<QuantileSummary> levels_;
};

}  // namespace runhooks
