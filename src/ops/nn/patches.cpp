#include "ops/nn/patches.h"

namespace runhooks {

namespace {

constexpr int64_t kElementsPerChunk = 1 << 15;  // fits the cache
constexpr int64_t kPositionsPerChunk = 192;     // enough to amortize packing the filter
constexpr int64_t kMinChunks = 8;               // for parallelism, if there are enough rows

int64_t divide_rounding_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Returns the number of cells from the first to the last one that the window covers along an axis.
int64_t input_extent(const WindowAxis& axis) {
  return (axis.out - 1) * axis.stride + (axis.size - 1) * axis.dilation + 1;
}

bool has_padding(const WindowAxis& axis) {
  return axis.padding_before > 0 || input_extent(axis) > axis.in;
}

// Splits a run of `length` elements, which are `stride` apart, into runs of nearly equal length
// that the kernels support. Returns their number.
int64_t add_runs(int64_t offset, int64_t length, int64_t stride, std::vector<Run>& runs) {
  const int64_t count = divide_rounding_up(length, kMaxRunLength);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = length * i / count, end = length * (i + 1) / count;
    runs.push_back({offset + begin * stride, end - begin});
  }
  return count;
}

}  // namespace

Patches::Patches(const WindowAxis& height, const WindowAxis& width, int64_t batch, int64_t channels)
    : height_(height),
      width_(width),
      batch_(batch),
      channels_(channels),
      has_padding_(has_padding(height) || has_padding(width)),
      row_size_((has_padding_ ? input_extent(width) : width.in) * channels) {
  choose_chunks();
  image_size_ = row_size_ * (has_padding_ ? input_rows_of(rows_per_band_) : height_.in);
  list_positions();
  list_cells();
}

void Patches::choose_chunks() {
  const int64_t image = std::max<int64_t>(input_extent(height_) * row_size_, 1);
  const int64_t positions = height_.out * width_.out;
  if (image > kElementsPerChunk || batch_ < kMinChunks) {
    const int64_t rows_that_fit =
        kElementsPerChunk / std::max<int64_t>(row_size_, 1) - input_rows_of(1);
    const int64_t max_rows =
        divide_rounding_up(height_.out, divide_rounding_up(kMinChunks, batch_));
    rows_per_band_ = std::clamp<int64_t>(rows_that_fit / height_.stride + 1, 1, max_rows);
    bands_per_image_ = divide_rounding_up(height_.out, rows_per_band_);
    image_groups_ = batch_;
    return;
  }
  rows_per_band_ = height_.out;
  images_per_chunk_ =
      std::min(kElementsPerChunk / image, divide_rounding_up(kPositionsPerChunk, positions));
  images_per_chunk_ = std::min(images_per_chunk_, batch_ / kMinChunks);
  image_groups_ = divide_rounding_up(batch_, images_per_chunk_);
}

Patches::Chunk Patches::chunk(int64_t number) const {
  Chunk p;
  p.image = number / bands_per_image_ * images_per_chunk_;
  p.images = std::min(images_per_chunk_, batch_ - p.image);
  p.top = number % bands_per_image_ * rows_per_band_;
  p.rows = std::min(rows_per_band_, height_.out - p.top);
  p.position = (p.image * height_.out + p.top) * width_.out;
  p.num_positions = p.images * p.rows * width_.out;
  return p;
}

// Lists the positions of the largest chunk. Smaller chunks use the first part of the list.
void Patches::list_positions() {
  const int64_t step = width_.stride * channels_;
  for (int64_t i = 0; i < images_per_chunk_; ++i) {
    for (int64_t oy = 0; oy < rows_per_band_; ++oy) {
      const int64_t row = i * image_size_ + oy * height_.stride * row_size_;
      for (int64_t ox = 0; ox < width_.out; ++ox) position_offsets_.push_back(row + ox * step);
      runs_per_output_row_ = add_runs(row, width_.out, step, position_runs_);
    }
  }
}

void Patches::list_cells() {
  const bool is_dense = width_.dilation == 1;
  for (int64_t ky = 0; ky < height_.size; ++ky) {
    const int64_t row = ky * height_.dilation * row_size_;
    if (is_dense) add_runs(row, width_.size * channels_, 1, cell_runs_);
    for (int64_t kx = 0; kx < width_.size; ++kx) {
      const int64_t cell = row + kx * width_.dilation * channels_;
      if (!is_dense) add_runs(cell, channels_, 1, cell_runs_);
      for (int64_t i = 0; i < channels_; ++i) cell_offsets_.push_back(cell + i);
    }
  }
}

GatheredRows Patches::by_position(const Chunk& chunk) const {
  return {position_offsets_.data(), cell_runs_.data(), chunk.num_positions,
          static_cast<int64_t>(cell_runs_.size()), 1};
}

GatheredRows Patches::by_cell(const Chunk& chunk) const {
  return {cell_offsets_.data(), position_runs_.data(), static_cast<int64_t>(cell_offsets_.size()),
          chunk.images * chunk.rows * runs_per_output_row_, width_.stride * channels_};
}

}  // namespace runhooks
