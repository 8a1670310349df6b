// BinnedMatrix: a table of bin numbers, the input of tree growing.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/kernels.h"

namespace runhooks {

// kOrdered: a feature that splits by "bin <= threshold". kCategories: one-hot features, one per
// category; an extra bin is for rows without a category. kMissingEitherSide: two copies of an
// ordered feature; missing values count as the first bin of one copy and the last bin of the other.
struct BinnedColumn {
  enum class Kind { kOrdered, kCategories, kMissingEitherSide };
  Kind kind = Kind::kOrdered;
  int32_t first_feature = 0, features = 1;
  int32_t bins = 1;          // without missing values
  bool has_missing = false;  // missing values are in bin `bins`
  int32_t predictor = 0;     // the input variable; `mtry` samples whole predictors
  // Including the bin of missing values.
  int32_t total_bins() const { return bins + (has_missing ? 1 : 0); }
};

class BinnedMatrix {
 public:
  static constexpr int32_t kMaxBins = 65536;
  static constexpr int64_t kChunkRows = 16384;

  // Columns that are stored together, row by row, with kBinRowBytes per row. Rows may be reordered
  // within a chunk.
  struct ColumnGroup {
    bool is_wide = false;          // two bytes per bin
    int32_t bins = 0;              // histogram size of each column
    std::vector<int32_t> columns;  // column index by slot in the row
    std::vector<uint64_t> rows;    // bins of a row, by position of the row
    const uint8_t* row(int64_t position) const {
      return reinterpret_cast<const uint8_t*>(rows.data() + position);
    }
    uint8_t* row(int64_t position) { return reinterpret_cast<uint8_t*>(rows.data() + position); }
    // Points to the bin of the column in `slot`, in the row at `position`; the next row is
    // kBinRowBytes further.
    const uint8_t* bins_from(int64_t position, int32_t slot) const {
      return row(position) + slot * (is_wide ? 2 : 1);
    }
  };
  // Where the bins of a column are stored.
  struct Location {
    int32_t group, slot;
  };

  // Throws kInvalidArgument for too many bins or rows, and names the column.
  BinnedMatrix(int64_t rows, std::vector<BinnedColumn> columns);

  // Reads `n` values of a column from row `first` on and writes their bins to `bins`; -1: missing.
  using Reader = std::function<void(int32_t column, int64_t first, int64_t n, int32_t* bins)>;
  // Reads all columns on several threads. Rethrows errors of `read` and throws for an invalid bin.
  void fill(const Reader& read);

  int64_t rows() const { return rows_; }
  int64_t num_chunks() const { return (rows_ + kChunkRows - 1) / kChunkRows; }
  int64_t chunk_rows(int64_t chunk) const;
  const std::vector<BinnedColumn>& columns() const { return columns_; }
  const BinnedColumn& column(size_t i) const { return columns_[i]; }
  Location location(size_t column) const { return locations_[column]; }
  std::vector<ColumnGroup>& groups() { return groups_; }
  const std::vector<ColumnGroup>& groups() const { return groups_; }
  // Returns the index of the column that has the feature, or -1.
  int32_t column_of_feature(int32_t feature) const;

 private:
  void fill_chunk(const Reader& read, size_t group_index, int64_t chunk);

  int64_t rows_;
  std::vector<BinnedColumn> columns_;
  std::vector<Location> locations_;
  std::vector<ColumnGroup> groups_;
  std::vector<int32_t> column_of_feature_;
};

}  // namespace runhooks
