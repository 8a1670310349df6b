// BinnedMatrix, a table whose values are numbers of bins, as growing trees reads it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/kernels.h"

namespace runhooks {

// A feature of the model's trees, or several that share a column: an ordered one has a number and
// asks "bin <= threshold?"; a column of categories is a feature a category, each of the bins 0
// (another) and 1 (this). It may have more bins than features. One of sides is two ordered features:
// what is missing has the least bin of the first one, and the last bin of the second one.
struct BinnedColumn {
  enum class Kind { kOrdered, kCategories, kMissingEitherSide };
  Kind kind = Kind::kOrdered;
  int32_t first_feature = 0, features = 1;
  int32_t bins = 1;          // of values
  bool has_missing = false;  // these have bin `bins`
  int32_t all_bins() const { return bins + (has_missing ? 1 : 0); }
};

class BinnedMatrix {
 public:
  static constexpr int32_t kMostBins = 65536;
  static constexpr int64_t kChunkRows = 16384;

  // Columns that lie side by side, kBinRowBytes a row; rows of a chunk may change their places.
  struct Group {
    bool is_wide = false;          // two bytes a bin
    int32_t bins = 0;              // room for as many in the sums of each column
    std::vector<int32_t> columns;  // by place
    std::vector<uint64_t> rows;    // by place
    const uint8_t* row(int64_t place) const {
      return reinterpret_cast<const uint8_t*>(rows.data() + place);
    }
    uint8_t* row(int64_t place) { return reinterpret_cast<uint8_t*>(rows.data() + place); }
    // the bin of a column in the row at this place, and those of the next rows after it
    const uint8_t* bins_from(int64_t place, int32_t slot) const {
      return row(place) + slot * (is_wide ? 2 : 1);
    }
  };
  struct Place {
    int32_t group, slot;
  };

  // Throws a kInvalidArgument error that names the column where there are too many bins or rows.
  BinnedMatrix(int64_t rows, std::vector<BinnedColumn> columns);

  // Writes into `bins` those of `n` values of a column, from `first` on; a missing one is -1.
  using Reader = std::function<void(int32_t column, int64_t first, int64_t n, int32_t* bins)>;
  // Reads all of them, on several threads at once. Throws what `read` throws, and where a bin is
  // none of its column.
  void fill(const Reader& read);

  int64_t rows() const { return rows_; }
  int64_t num_chunks() const { return (rows_ + kChunkRows - 1) / kChunkRows; }
  int64_t chunk_rows(int64_t chunk) const;
  const std::vector<BinnedColumn>& columns() const { return columns_; }
  const BinnedColumn& column(size_t i) const { return columns_[i]; }
  Place place(size_t column) const { return places_[column]; }
  std::vector<Group>& groups() { return groups_; }
  const std::vector<Group>& groups() const { return groups_; }
  // The column of a feature; -1 where no column has it.
  int32_t column_of_feature(int32_t feature) const;

 private:
  void fill_chunk(const Reader& read, size_t group, int64_t chunk);

  int64_t rows_;
  std::vector<BinnedColumn> columns_;
  std::vector<Place> places_;
  std::vector<Group> groups_;
  std::vector<int32_t> column_of_feature_;
};

}  // namespace runhooks
