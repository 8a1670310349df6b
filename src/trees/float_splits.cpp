#include "trees/float_splits.h"

#include <algorithm>
#include <cstddef>

#include "trees/parallel.h"

namespace runhooks {

namespace {

constexpr int64_t kMaxRows = 8192;
// Limits the sums in memory; a column with more sums is processed alone.
constexpr size_t kSumsAtOnce = size_t{1} << 19;

class Sums {
 public:
  Sums(const LayerGrower& rows, int32_t begin, int32_t end, const float* g, const float* h)
      : matrix_(rows.matrix()), begin_(begin), nodes_(end - begin), gradients_(g), hessians_(h) {
    places_.resize(static_cast<size_t>(rows.rows()));
    node_.resize(places_.size(), -1);
    rows.each_segment([&](int32_t node, const uint16_t* ids, int64_t n, int64_t first, int64_t at) {
      for (int64_t i = 0; i < n; ++i) {
        const auto row = static_cast<size_t>(first + ids[i]);
        places_[row] = at + i;
        if (node >= begin && node < end) node_[row] = node - begin;
      }
    });
  }

  // The number of sums of a column: one gradient and hessian per feature, node and bucket.
  size_t size_of(size_t number) const {
    const BinnedColumn& column = matrix_.column(number);
    return static_cast<size_t>(int64_t{column.features} * nodes_ * buckets_of(column) * 2);
  }

  void add_column(size_t number, double* sums) const {
    const BinnedColumn& column = matrix_.column(number);
    const bool by_category = column.kind == BinnedColumn::Kind::kCategories;
    const int64_t buckets = buckets_of(column);
    const std::vector<int32_t> bins = bins_of(number);
    for (int32_t feature = 0; feature < column.features; ++feature, sums += nodes_ * buckets * 2) {
      for (size_t row = 0; row < bins.size(); ++row) {
        if (node_[row] < 0) continue;
        const int32_t bucket =
            by_category ? bins[row] == feature : side_of(column, feature, bins[row]);
        double* at = sums + (node_[row] * buckets + bucket) * 2;
        at[0] += static_cast<double>(gradients_[row]);
        at[1] += static_cast<double>(hessians_[row]);
      }
    }
  }

  std::vector<LayerSplit> of_column(size_t number,
                                    const double* sums,
                                    const SplitRules& rules) const {
    const BinnedColumn& column = matrix_.column(number);
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
        current.column = static_cast<int32_t>(number);
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

  // Missing values are in the first or the last bin.
  static int32_t side_of(const BinnedColumn& column, int32_t feature, int32_t bin) {
    if (bin < column.bins) return bin;
    return feature == 0 ? 0 : column.bins - 1;
  }

  static bool is_better_than(float gain, const LayerSplit& than) {
    return is_larger_gain(gain, static_cast<float>(than.gain));
  }

 private:
  static int64_t buckets_of(const BinnedColumn& column) {
    return column.kind == BinnedColumn::Kind::kCategories ? 2 : column.bins;
  }
  std::vector<int32_t> bins_of(size_t number) const {
    const BinnedMatrix::Place place = matrix_.place(number);
    const BinnedMatrix::Group& group = matrix_.groups()[static_cast<size_t>(place.group)];
    std::vector<int32_t> bins(places_.size());
    for (size_t row = 0; row < bins.size(); ++row) {
      const uint8_t* of_row = group.row(places_[row]);
      bins[row] = group.is_wide ? reinterpret_cast<const uint16_t*>(of_row)[place.slot]
                                : of_row[place.slot];
    }
    return bins;
  }

  const BinnedMatrix& matrix_;
  const int32_t begin_, nodes_;
  const float *gradients_, *hessians_;
  std::vector<int64_t> places_;  // the current position of each row
  std::vector<int32_t> node_;    // -1: not in this layer
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
  const Sums sums(rows, begin, end, gradients, hessians);
  const size_t columns = rows.matrix().columns().size();
  std::vector<std::vector<LayerSplit>> by_column(columns);
  for (size_t begin_column = 0; begin_column < columns;) {
    std::vector<size_t> first = {0};
    while (begin_column + first.size() <= columns && first.back() < kSumsAtOnce) {
      first.push_back(first.back() + sums.size_of(begin_column + first.size() - 1));
    }
    const size_t n = first.size() - 1;
    std::vector<double> all(first.back());
    parallel_for_throwing(static_cast<int64_t>(n), [&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      if (!rows.uses(begin_column + at)) return;
      sums.add_column(begin_column + at, all.data() + first[at]);
    });
    if (Communicator* peers = rows.all().peers) {
      peers->add(all.data(), static_cast<int64_t>(all.size()), DType::kFloat64);
    }
    parallel_for_throwing(static_cast<int64_t>(n), [&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      if (!rows.uses(begin_column + at)) return;
      by_column[begin_column + at] =
          sums.of_column(begin_column + at, all.data() + first[at], rules);
    });
    begin_column += n;
  }
  std::vector<LayerSplit> best;
  for (size_t node = 0; node < static_cast<size_t>(end - begin); ++node) {
    LayerSplit found;
    for (std::vector<LayerSplit>& splits : by_column) {
      if (splits.empty()) continue;
      LayerSplit& own = splits[node];
      if (own.column < 0) continue;
      if (found.column < 0 || Sums::is_better_than(static_cast<float>(own.gain), found))
        found = own;
    }
    if (found.column >= 0) best.push_back(std::move(found));
  }
  return best;
}

}  // namespace runhooks
