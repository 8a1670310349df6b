// Loop tiling for matrices, and dispatch by element size.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tensor/dtype.h"

namespace runhooks {

// Calls use(x) with an unsigned integer x of the same size as `dtype`.
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

// Tile size that keeps the source columns in the CPU cache while rows are written.
constexpr int64_t kColumnsOfBlock = 16, kRowsOfBlock = 128;

// Calls put(first column, end, first row, end) for each tile.
template <typename Put>
void for_each_tile(int64_t rows, int64_t columns, const Put& put) {
  for (int64_t r = 0; r < rows; r += kRowsOfBlock) {
    for (int64_t c = 0; c < columns; c += kColumnsOfBlock) {
      put(c, std::min(columns, c + kColumnsOfBlock), r, std::min(rows, r + kRowsOfBlock));
    }
  }
}

}  // namespace runhooks
