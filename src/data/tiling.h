// What lives here: loops over the numbers of rows by their bits and in blocks.
// Who may use it: data.
// What it must not know: whose the rows are.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tensor/dtype.h"

namespace runhooks {

// Calls use(an element) with an unsigned number of as many bytes as one of type `dtype` has.
template <typename Use>
void dispatch_by_size(DType dtype, const Use& use) {
  switch (dtype_size(dtype)) {
    case 1:
      return use(uint8_t{});
    case 2:
      return use(uint16_t{});
    case 4:
      return use(uint32_t{});
    default:
      return use(uint64_t{});
  }
}

// As many columns of so many rows side by side stay at hand while rows are made of them.
constexpr int64_t kColumnsOfBlock = 16, kRowsOfBlock = 128;

// Calls put(first column, end, first row, end) for blocks of rows and columns.
template <typename Put>
void for_each_tile(int64_t rows, int64_t columns, const Put& put) {
  for (int64_t r = 0; r < rows; r += kRowsOfBlock) {
    for (int64_t c = 0; c < columns; c += kColumnsOfBlock) {
      put(c, std::min(columns, c + kColumnsOfBlock), r, std::min(rows, r + kRowsOfBlock));
    }
  }
}

}  // namespace runhooks
