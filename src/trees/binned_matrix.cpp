#include "trees/binned_matrix.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/status.h"
#include "trees/parallel.h"

namespace runhooks {

namespace {

void check_size(int64_t rows, const std::vector<BinnedColumn>& columns) {
  if (rows < 1 || rows > std::numeric_limits<int32_t>::max()) {
    invalid_argument("Trees support 1 to 2147483647 rows, not ", rows, ".");
  }
  if (columns.empty()) invalid_argument("Trees need at least one column.");
  for (size_t i = 0; i < columns.size(); ++i) {
    const BinnedColumn& column = columns[i];
    if (column.bins < 1 || column.total_bins() > BinnedMatrix::kMaxBins) {
      invalid_argument("Column ", i, " has ", column.total_bins(), " bins; at most ",
                       BinnedMatrix::kMaxBins, " are possible, including missing values.");
    }
  }
}

}  // namespace

BinnedMatrix::BinnedMatrix(int64_t rows, std::vector<BinnedColumn> columns)
    : rows_(rows), columns_(std::move(columns)) {
  check_size(rows_, columns_);
  locations_.resize(columns_.size());
  for (const bool is_wide : {false, true}) {
    bool is_first_column = true;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if ((columns_[i].total_bins() > kByteBins) != is_wide) continue;
      const size_t max_columns = static_cast<size_t>(is_wide ? kBinRowBytes / 2 : kBinRowBytes);
      if (is_first_column || groups_.back().columns.size() == max_columns) {
        groups_.emplace_back();
        groups_.back().is_wide = is_wide;
        groups_.back().bins = is_wide ? 0 : kByteBins;
        is_first_column = false;
      }
      ColumnGroup& group = groups_.back();
      locations_[i] = {static_cast<int32_t>(groups_.size() - 1),
                       static_cast<int32_t>(group.columns.size())};
      group.columns.push_back(static_cast<int32_t>(i));
      group.bins = std::max(group.bins, columns_[i].total_bins());
    }
  }
  for (ColumnGroup& group : groups_) group.rows.resize(static_cast<size_t>(rows_));
  for (size_t i = 0; i < columns_.size(); ++i) {
    const int32_t features = columns_[i].features;
    const size_t end = static_cast<size_t>(columns_[i].first_feature + features);
    if (column_of_feature_.size() < end) column_of_feature_.resize(end, -1);
    std::fill_n(column_of_feature_.begin() + columns_[i].first_feature, features,
                static_cast<int32_t>(i));
  }
}

int64_t BinnedMatrix::chunk_rows(int64_t chunk) const {
  return std::min(kChunkRows, rows_ - chunk * kChunkRows);
}

int32_t BinnedMatrix::column_of_feature(int32_t feature) const {
  if (feature < 0 || static_cast<size_t>(feature) >= column_of_feature_.size()) return -1;
  return column_of_feature_[static_cast<size_t>(feature)];
}

void BinnedMatrix::fill(const Reader& read) {
  const int64_t groups = static_cast<int64_t>(groups_.size());
  parallel_for_throwing(num_chunks() * groups, [&](int64_t i) {
    fill_chunk(read, static_cast<size_t>(i % groups), i / groups);
  });
}

void BinnedMatrix::fill_chunk(const Reader& read, size_t group_index, int64_t chunk) {
  ColumnGroup& group = groups_[group_index];
  const int64_t first = chunk * kChunkRows, n = chunk_rows(chunk);
  uint8_t* rows = group.row(first);
  std::vector<int32_t> bins(static_cast<size_t>(n));
  for (size_t slot = 0; slot < group.columns.size(); ++slot) {
    const BinnedColumn& column = columns_[static_cast<size_t>(group.columns[slot])];
    read(group.columns[slot], first, n, bins.data());
    const int32_t missing = column.has_missing ? column.bins : -1;
    int32_t min_bin = 0, max_bin = 0;
    for (int32_t& bin : bins) {
      bin = bin < 0 ? missing : bin;
      min_bin = std::min(min_bin, bin);
      max_bin = std::max(max_bin, bin);
    }
    if (min_bin < 0 || max_bin >= column.total_bins()) {
      invalid_argument("A value of column ", group.columns[slot], " lies in bin ",
                       min_bin < 0 ? min_bin : max_bin, "; its bins are 0 to ",
                       column.total_bins() - 1, ".");
    }
    for (int64_t i = 0; i < n; ++i) {
      uint8_t* row = rows + i * kBinRowBytes;
      const int32_t bin = bins[static_cast<size_t>(i)];
      if (group.is_wide) {
        reinterpret_cast<uint16_t*>(row)[slot] = static_cast<uint16_t>(bin);
      } else {
        row[slot] = static_cast<uint8_t>(bin);
      }
    }
  }
}

}  // namespace runhooks
