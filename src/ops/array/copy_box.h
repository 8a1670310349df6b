// copy_box(): copies a box (a contiguous range of each dimension) of one tensor into another.
#pragma once

#include <vector>

#include "ops/array/copy_elements.h"

namespace runhooks {

// Copies a box of shape `box` that begins at `from_begin` in `from`. Writes it to the output of
// `copier`, which has shape `to`, beginning at `to_begin`.
inline void copy_box(ElementCopier& copier,
                     const Tensor& from,
                     const std::vector<int64_t>& from_begin,
                     const Shape& to,
                     const std::vector<int64_t>& to_begin,
                     const Shape& box) {
  if (box.num_elements() == 0) return;
  const int rank = box.rank();
  const int64_t run = rank == 0 ? 1 : box.dim(rank - 1);
  const int64_t rows = rank < 2 ? 1 : box.dim(rank - 2);  // number of runs that one call copies
  const int64_t groups = box.num_elements() / run / rows;
  const auto stride = [rank](const Shape& shape) { return rank == 0 ? 0 : shape.dim(rank - 1); };
  std::vector<int64_t> index(static_cast<size_t>(rank), 0);
  auto offset = [&index, rank](const Shape& shape, const std::vector<int64_t>& begin) {
    int64_t position = 0;
    for (int i = 0; i < rank; ++i) {
      const auto k = static_cast<size_t>(i);
      position = position * shape.dim(i) + begin[k] + index[k];
    }
    return position;
  };
  for (int64_t group = 0; group < groups; ++group) {
    copier.copy_rows(from, offset(from.shape(), from_begin), stride(from.shape()),
                     offset(to, to_begin), stride(to), rows, run);
    for (int i = rank - 3; i >= 0; --i) {
      const auto k = static_cast<size_t>(i);
      if (++index[k] < box.dim(i)) break;
      index[k] = 0;
    }
  }
}

}  // namespace runhooks
