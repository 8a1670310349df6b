// Patches: the cells under a sliding window as rows of a matrix, which kernels gather on the fly.
#pragma once

#include <algorithm>
#include <vector>

#include "base/parallel_for.h"
#include "kernels/kernels.h"
#include "ops/nn/window.h"

namespace runhooks {

// A matrix with one row per window position (image, height, width) and one column per window cell
// (height, width, channel). It is never materialized: elements are gathered from the images, or
// from a padded copy of some of them.
class Patches {
 public:
  Patches(const WindowAxis& height, const WindowAxis& width, int64_t batch, int64_t channels);

  // A unit of work: whole images, or some output rows of a large image. The division depends on
  // sizes only.
  struct Chunk {
    int64_t image, images;
    int64_t top, rows;          // output rows in each of these images
    int64_t place, num_places;  // the matrix rows of the chunk
  };
  int64_t num_chunks() const { return groups_ * bands_; }
  Chunk piece(int64_t number) const;

  // Calls run(lane, piece, is_first_of_lane) for all chunks; a lane runs its chunks sequentially.
  // The assignment to lanes is independent of the number of threads, so sums are bit-identical. A
  // position costs about `work` operations.
  template <typename Run>
  void each_chunk(int64_t lanes, int64_t work, const Run& run) const {
    const int64_t turns = (num_chunks() + lanes - 1) / lanes;
    for_each_cancellable_chunk(turns, lanes * images_ * rows_ * width_.out * work,
                               [&](int64_t first, int64_t last) {
                                 parallel_for(lanes, [&](int64_t lane) {
                                   for (int64_t turn = first; turn < last; ++turn) {
                                     const int64_t i = turn * lanes + lane;
                                     if (i < num_chunks()) run(lane, piece(i), turn == 0);
                                   }
                                 });
                               });
  }

  // The matrix rows of a chunk, or their transpose: one row per cell, one step per position.
  GatheredRows by_position(const Chunk& piece) const;
  GatheredRows by_cell(const Chunk& piece) const;

  // The data to gather from. `memory` must hold memory() elements.
  template <typename T>
  const T* read(const Chunk& piece, const T* images, T* memory) const;
  int64_t memory() const { return copies_ ? images_ * image_size_ : 0; }

 private:
  void choose_chunks();
  void list_positions();
  void list_cells();
  int64_t rows_below(int64_t rows) const {
    return (rows - 1) * height_.stride + (height_.size - 1) * height_.dilation + 1;
  }

  WindowAxis height_, width_;
  int64_t batch_, channels_;
  bool copies_;             // true if there is padding
  int64_t row_size_;        // elements between two image rows
  int64_t image_size_ = 0;  // elements between two images
  int64_t images_ = 1, rows_ = 1, groups_ = 0, bands_ = 1;
  std::vector<int64_t> places_, cells_;  // offsets
  std::vector<Run> rows_of_places_, rows_of_cells_;
  int64_t runs_of_row_ = 1;  // of positions
};

template <typename T>
const T* Patches::read(const Chunk& piece, const T* images, T* memory) const {
  const int64_t row = width_.in * channels_, image = height_.in * row;
  const int64_t top = piece.top * height_.stride - height_.before;
  if (!copies_) return images + piece.image * image + top * row;
  const int64_t left = width_.before * channels_, used = std::min(row, row_size_ - left);
  for (int64_t i = 0; i < piece.images; ++i) {
    T* to = memory + i * image_size_;
    for (int64_t y = top; y < top + rows_below(piece.rows); ++y, to += row_size_) {
      if (y < 0 || y >= height_.in) {
        std::fill(to, to + row_size_, T(0));
        continue;
      }
      const T* from = images + (piece.image + i) * image + y * row;
      std::fill(to, to + left, T(0));
      std::copy(from, from + used, to + left);
      std::fill(to + left + used, to + row_size_, T(0));
    }
  }
  return memory;
}

}  // namespace runhooks
