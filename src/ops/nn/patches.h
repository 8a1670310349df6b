// Patches: the image cells under a sliding window as a matrix, whose elements are read directly
// from the images.
#pragma once

#include <algorithm>
#include <vector>

#include "base/parallel_for.h"
#include "kernels/kernels.h"
#include "ops/nn/window.h"

namespace runhooks {

// A matrix with one row per window position (image, height, width) and one column per window cell
// (height, width, channel). It is never in memory: matrix products gather its elements from the
// images or, if the window has padding, from padded copies of some images.
class Patches {
 public:
  Patches(const WindowAxis& height, const WindowAxis& width, int64_t batch, int64_t channels);

  // A unit of work: several images, or a band of output rows of one large image. The division into
  // chunks depends only on sizes, not on the number of threads.
  struct Chunk {
    int64_t image, images;
    int64_t top, rows;                // the output rows of the chunk in each image
    int64_t position, num_positions;  // the first row in the matrix, and the number of rows
  };
  int64_t num_chunks() const { return image_groups_ * bands_per_image_; }
  Chunk chunk(int64_t number) const;

  // Calls run(lane, chunk, is_first_of_lane) for all chunks. Lanes run in parallel, the chunks of a
  // lane one after another. The lane of a chunk does not depend on the number of threads, so sums
  // per lane always have the same bits. `work` is the number of operations per position.
  template <typename Run>
  void for_each_chunk(int64_t lanes, int64_t work, const Run& run) const {
    const int64_t chunks_per_lane = (num_chunks() + lanes - 1) / lanes;
    for_each_cancellable_chunk(chunks_per_lane,
                               lanes * images_per_chunk_ * rows_per_band_ * width_.out * work,
                               [&](int64_t first, int64_t last) {
                                 parallel_for(lanes, [&](int64_t lane) {
                                   for (int64_t round = first; round < last; ++round) {
                                     const int64_t i = round * lanes + lane;
                                     if (i < num_chunks()) run(lane, chunk(i), round == 0);
                                   }
                                 });
                               });
  }

  // Return the rows of a chunk, and their transpose, which has one row per window cell.
  GatheredRows by_position(const Chunk& chunk) const;
  GatheredRows by_cell(const Chunk& chunk) const;

  // Returns the memory from which GatheredRows reads: the images, or their padded copy in `buffer`,
  // which must have buffer_size() elements.
  template <typename T>
  const T* gather_source(const Chunk& chunk, const T* images, T* buffer) const;
  int64_t buffer_size() const { return has_padding_ ? images_per_chunk_ * image_size_ : 0; }

 private:
  void choose_chunks();
  void list_positions();
  void list_cells();
  // Returns the number of input rows under the windows of `rows` output rows.
  int64_t input_rows_of(int64_t rows) const {
    return (rows - 1) * height_.stride + (height_.size - 1) * height_.dilation + 1;
  }

  WindowAxis height_, width_;
  int64_t batch_, channels_;
  bool has_padding_;        // if so, chunks are copied with zeros around the images
  int64_t row_size_;        // elements between two image rows
  int64_t image_size_ = 0;  // elements between two images
  int64_t images_per_chunk_ = 1, rows_per_band_ = 1, image_groups_ = 0, bands_per_image_ = 1;
  std::vector<int64_t> position_offsets_, cell_offsets_;  // from the first element of a chunk
  std::vector<Run> position_runs_, cell_runs_;
  int64_t runs_per_output_row_ = 1;
};

template <typename T>
const T* Patches::gather_source(const Chunk& chunk, const T* images, T* buffer) const {
  const int64_t row = width_.in * channels_, image = height_.in * row;
  const int64_t top = chunk.top * height_.stride - height_.padding_before;
  if (!has_padding_) return images + chunk.image * image + top * row;
  const int64_t left = width_.padding_before * channels_, used = std::min(row, row_size_ - left);
  for (int64_t i = 0; i < chunk.images; ++i) {
    T* to = buffer + i * image_size_;
    for (int64_t y = top; y < top + input_rows_of(chunk.rows); ++y, to += row_size_) {
      if (y < 0 || y >= height_.in) {
        std::fill(to, to + row_size_, T(0));
        continue;
      }
      const T* from = images + (chunk.image + i) * image + y * row;
      std::fill(to, to + left, T(0));
      std::copy(from, from + used, to + left);
      std::fill(to + left + used, to + row_size_, T(0));
    }
  }
  return buffer;
}

}  // namespace runhooks
