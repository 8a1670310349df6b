#include "trees/float_splits.h"

#include <algorithm>
#include <cstddef>

#include "trees/parallel.h"

namespace runhooks {

namespace {

// With more rows, splits use integer sums instead of float_splits(), because they are faster.
constexpr int64_t kMaxRows = 8192;
// Limits the number of sums in memory: columns are processed in batches. A column with more sums is
// a separate batch.
constexpr size_t kMaxSumsInMemory = size_t{1} << 19;

// Computes the sums of gradients and hessians of a column by feature, node and bucket.
class ColumnSums {
 public:
  ColumnSums(const LayerGrower& rows, int32_t begin, int32_t end, const float* g, const float* h)
      : matrix_(rows.matrix()), begin_(begin), nodes_(end - begin), gradients_(g), hessians_(h) {
    positions_.resize(static_cast<size_t>(rows.rows()));
    node_of_row_.resize(positions_.size(), -1);
    rows.each_segment([&](int32_t node, const uint16_t* ids, int64_t n, int64_t first, int64_t at) {
      for (int64_t i = 0; i < n; ++i) {
        const auto row = static_cast<size_t>(first + ids[i]);
        positions_[row] = at + i;
        if (node >= begin && node < end) node_of_row_[row] = node - begin;
      }
    });
  }

  // Returns the number of sums of a column: a gradient and a hessian per feature, node and bucket.
  size_t num_sums(size_t column_index) const {
    const BinnedColumn& column = matrix_.column(column_index);
    return static_cast<size_t>(int64_t{column.features} * nodes_ * buckets_of(column) * 2);
  }

  void add_column(size_t column_index, double* sums) const {
    const BinnedColumn& column = matrix_.column(column_index);
    const bool by_category = column.kind == BinnedColumn::Kind::kCategories;
    const int64_t buckets = buckets_of(column);
    const std::vector<int32_t> bins = bins_of(column_index);
    for (int32_t feature = 0; feature < column.features; ++feature, sums += nodes_ * buckets * 2) {
      for (size_t row = 0; row < bins.size(); ++row) {
        if (node_of_row_[row] < 0) continue;
        const int32_t bucket =
            by_category ? bins[row] == feature : bucket_of(column, feature, bins[row]);
        double* at = sums + (node_of_row_[row] * buckets + bucket) * 2;
        at[0] += static_cast<double>(gradients_[row]);
        at[1] += static_cast<double>(hessians_[row]);
      }
    }
  }

  std::vector<LayerSplit> best_splits_of(size_t column_index,
                                         const double* sums,
                                         const SplitRules& rules) const {
    const BinnedColumn& column = matrix_.column(column_index);
    const int64_t buckets = buckets_of(column);
    std::vector<LayerSplit> best(static_cast<size_t>(nodes_));
    std::vector<float> stats(static_cast<size_t>(nodes_ * buckets * 2));
    for (int32_t feature = 0; feature < column.features; ++feature, sums += stats.size()) {
      std::transform(sums, sums + stats.size(), stats.begin(),
                     [](double x) { return static_cast<float>(x); });
      for (int32_t node = 0; node < nodes_; ++node) {
        ThresholdSplit found;
        if (!best_threshold(stats.data() + node * buckets * 2, buckets, rules, &found)) continue;
        LayerSplit& current = best[static_cast<size_t>(node)];
        if (current.column >= 0 && !is_better_than(found.gain, current)) continue;
        current.node = begin_ + node;
        current.column = static_cast<int32_t>(column_index);
        current.feature = column.first_feature + feature;
        current.threshold = found.threshold;
        current.gain = static_cast<double>(found.gain);
        current.left = {found.left};
        current.right = {found.right};
        current.left_is_empty = found.left_is_empty;
        current.right_is_empty = found.right_is_empty;
      }
    }
    return best;
  }

  // A kMissingEitherSide column consists of two features. Missing values are in the first bucket of
  // the first feature and in the last bucket of the second one.
  static int32_t bucket_of(const BinnedColumn& column, int32_t feature, int32_t bin) {
    if (bin < column.bins) return bin;
    return feature == 0 ? 0 : column.bins - 1;
  }

  static bool is_better_than(float gain, const LayerSplit& other) {
    return is_larger_gain(gain, static_cast<float>(other.gain));
  }

 private:
  static int64_t buckets_of(const BinnedColumn& column) {
    return column.kind == BinnedColumn::Kind::kCategories ? 2 : column.bins;
  }
  std::vector<int32_t> bins_of(size_t column_index) const {
    const BinnedMatrix::Location location = matrix_.location(column_index);
    const BinnedMatrix::ColumnGroup& group = matrix_.groups()[static_cast<size_t>(location.group)];
    std::vector<int32_t> bins(positions_.size());
    for (size_t row = 0; row < bins.size(); ++row) {
      const uint8_t* row_bins = group.row(positions_[row]);
      bins[row] = group.is_wide ? reinterpret_cast<const uint16_t*>(row_bins)[location.slot]
                                : row_bins[location.slot];
    }
    return bins;
  }

  const BinnedMatrix& matrix_;
  const int32_t begin_, nodes_;
  const float *gradients_, *hessians_;
  std::vector<int64_t> positions_;    // the current position of each row
  std::vector<int32_t> node_of_row_;  // -1: not in this layer
};

}  // namespace

bool can_sum_floats(const LayerGrower& rows) {
  const std::vector<BinnedColumn>& columns = rows.matrix().columns();
  return rows.logits() == 1 && rows.global_rows() <= kMaxRows &&
         std::none_of(columns.begin(), columns.end(), [](const BinnedColumn& column) {
           return column.has_missing && column.kind != BinnedColumn::Kind::kMissingEitherSide;
         });
}

std::vector<LayerSplit> float_splits(const LayerGrower& rows,
                                     int32_t begin,
                                     int32_t end,
                                     const float* gradients,
                                     const float* hessians,
                                     const SplitRules& rules) {
  const ColumnSums sums(rows, begin, end, gradients, hessians);
  const size_t columns = rows.matrix().columns().size();
  std::vector<std::vector<LayerSplit>> by_column(columns);
  for (size_t begin_column = 0; begin_column < columns;) {
    std::vector<size_t> offsets = {0};  // where each column begins in `all_sums`
    while (begin_column + offsets.size() <= columns && offsets.back() < kMaxSumsInMemory) {
      offsets.push_back(offsets.back() + sums.num_sums(begin_column + offsets.size() - 1));
    }
    const size_t n = offsets.size() - 1;
    std::vector<double> all_sums(offsets.back());
    parallel_for_throwing(static_cast<int64_t>(n), [&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      if (!rows.uses_column(begin_column + at)) return;
      sums.add_column(begin_column + at, all_sums.data() + offsets[at]);
    });
    if (Communicator* peers = rows.row_partition().peers) {
      peers->add(all_sums.data(), static_cast<int64_t>(all_sums.size()), DType::kFloat64);
    }
    parallel_for_throwing(static_cast<int64_t>(n), [&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      if (!rows.uses_column(begin_column + at)) return;
      by_column[begin_column + at] =
          sums.best_splits_of(begin_column + at, all_sums.data() + offsets[at], rules);
    });
    begin_column += n;
  }
  std::vector<LayerSplit> best;
  for (size_t node = 0; node < static_cast<size_t>(end - begin); ++node) {
    LayerSplit best_of_node;
    for (const std::vector<LayerSplit>& splits : by_column) {
      if (splits.empty() || splits[node].column < 0) continue;
      if (best_of_node.column < 0 ||
          ColumnSums::is_better_than(static_cast<float>(splits[node].gain), best_of_node)) {
        best_of_node = splits[node];
      }
    }
    if (best_of_node.column >= 0) best.push_back(std::move(best_of_node));
  }
  return best;
}

}  // namespace runhooks
