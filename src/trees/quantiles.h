// QuantileStream: approximate quantiles of a stream of weighted values in limited memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace runhooks {

// A value with bounds of its rank. The total weight of smaller values is at least min_rank. The
// total weight of values up to and including this one is at most max_rank.
struct QuantileEntry {
  float value = 0, weight = 0, min_rank = 0, max_rank = 0;
  float next_min_rank() const { return min_rank + weight; }
  float prev_max_rank() const { return max_rank - weight; }
};

// A sorted summary (Zhang and Wang 2007, "A fast algorithm for approximate quantiles in high speed
// data streams", with weights).
class QuantileSummary {
 public:
  QuantileSummary() = default;
  explicit QuantileSummary(std::vector<QuantileEntry> entries) : entries_(std::move(entries)) {}
  // Returns the exact summary of pairs of a value and a weight, in any order.
  static QuantileSummary of(std::vector<std::pair<float, float>> values);

  const std::vector<QuantileEntry>& entries() const { return entries_; }
  bool is_empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  float total_weight() const { return entries_.empty() ? 0 : entries_.back().max_rank; }

  void merge(const QuantileSummary& other);
  // Reduces to about `size` entries. Gaps between ranks are at most max(1 / size, min_error) times
  // the total weight.
  void compress(int64_t size, double min_error);
  // Returns the largest possible rank error as a fraction of the total weight.
  double error() const;
  // Returns at most about `count` values, with about equal weight between neighbors.
  std::vector<float> boundaries(int64_t count) const;
  // Returns the values at `count` + 1 equally spaced ranks.
  std::vector<float> quantiles(int64_t count) const;

 private:
  std::vector<QuantileEntry> entries_;
};

// Summarizes `n` values. `weights` has one weight per value, or a single weight for all.
QuantileSummary summary_of_values(
    const float* values, int64_t n, const float* weights, bool has_single_weight, double epsilon);

// Keeps one summary per level; each level covers about twice as many values as the previous one.
class QuantileStream {
 public:
  // Ranks have a relative error of about `epsilon` for up to `max_elements` values.
  QuantileStream(double epsilon, int64_t max_elements);
  void add(float value, float weight);
  void add_all(const float* values, int64_t n, float weight);
  void add(QuantileSummary summary);
  // Returns the summary of all values and empties the stream.
  QuantileSummary take();
  // Flushes buffered values and returns the summaries by level.
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
