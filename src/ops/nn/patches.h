// What lives here: Patches, what lies below a window at each of its places on images, as rows that kernels gather.
// Who may use it: convolutions.
// What it must not know: what the rows are multiplied with, R.
#pragma once

#include <algorithm>
#include <vector>

#include "base/parallel_for.h"
#include "kernels/kernels.h"
#include "ops/nn/window.h"

namespace runhooks {

// A matrix with a row for each place of the window (image, height, width) and a column for each of
// its cells (height, width, channel). It is never written out: its numbers are gathered from the
// images, or from a copy of some of them with their padding.
class Patches {
 public:
  Patches(const WindowAxis& height, const WindowAxis& width, int64_t batch, int64_t channels);

  // What is worked on at a time: whole images, or some rows of places of a large one. What the
  // pieces are depends on sizes alone.
  struct Piece {
    int64_t image, images;
    int64_t top, rows;          // of places in each of these images
    int64_t place, num_places;  // which rows of the matrix these are
  };
  int64_t num_pieces() const { return groups_ * bands_; }
  Piece piece(int64_t number) const;

  // run(lane, piece, is_first_of_lane) of all pieces, those of a lane one after the other. Which
  // are a lane's does not depend on the number of threads, so that sums are the same bits for any.
  // One place takes about `work` operations.
  template <typename Run>
  void each_piece(int64_t lanes, int64_t work, const Run& run) const {
    const int64_t turns = (num_pieces() + lanes - 1) / lanes;
    for_each_cancellable_chunk(turns, lanes * images_ * rows_ * width_.out * work, [&](int64_t first, int64_t last) {
      parallel_for(lanes, [&](int64_t lane) {
        for (int64_t turn = first; turn < last; ++turn) {
          const int64_t i = turn * lanes + lane;
          if (i < num_pieces()) run(lane, piece(i), turn == 0);
        }
      });
    });
  }

  // The rows of a piece; or the other way round, a row for each cell and a step for each place.
  GatheredRows by_place(const Piece& piece) const;
  GatheredRows by_cell(const Piece& piece) const;

  // From where these are gathered. `memory` has room for memory() numbers.
  template <typename T>
  const T* read(const Piece& piece, const T* images, T* memory) const;
  int64_t memory() const { return copies_ ? images_ * image_size_ : 0; }

 private:
  void choose_pieces();
  void list_places();
  void list_cells();
  int64_t rows_below(int64_t rows) const {
    return (rows - 1) * height_.stride + (height_.size - 1) * height_.dilation + 1;
  }

  WindowAxis height_, width_;
  int64_t batch_, channels_;
  bool copies_;             // there is padding
  int64_t row_size_;        // numbers between two rows of cells
  int64_t image_size_ = 0;  // numbers between two images
  int64_t images_ = 1, rows_ = 1, groups_ = 0, bands_ = 1;
  std::vector<int64_t> places_, cells_;  // offsets
  std::vector<Run> rows_of_places_, rows_of_cells_;
  int64_t runs_of_row_ = 1;  // of places
};

template <typename T>
const T* Patches::read(const Piece& piece, const T* images, T* memory) const {
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
