#include "ops/nn/patches.h"

namespace runhooks {

namespace {

constexpr int64_t kElementsPerChunk = 1 << 15;  // elements per chunk, to fit the cache
constexpr int64_t kPositionsPerChunk = 192;     // positions per chunk; enough to amortize packing
constexpr int64_t kMinChunks = 8;  // minimum number of chunks, if there are enough rows

int64_t ratio_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The distance from the first to the last cell under the window.
int64_t input_extent(const WindowAxis& axis) {
  return (axis.out - 1) * axis.stride + (axis.size - 1) * axis.dilation + 1;
}

bool has_padding(const WindowAxis& axis) { return axis.before > 0 || input_extent(axis) > axis.in; }

// Splits `length` steps from `offset` into runs of nearly equal length.
int64_t add_runs(int64_t offset, int64_t length, int64_t stride, std::vector<Run>& runs) {
  const int64_t count = ratio_up(length, kLongestRun);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t from = length * i / count, to = length * (i + 1) / count;
    runs.push_back({offset + from * stride, to - from});
  }
  return count;
}

}  // namespace

Patches::Patches(const WindowAxis& height, const WindowAxis& width, int64_t batch, int64_t channels)
    : height_(height),
      width_(width),
      batch_(batch),
      channels_(channels),
      copies_(has_padding(height) || has_padding(width)),
      row_size_((copies_ ? input_extent(width) : width.in) * channels) {
  choose_chunks();
  image_size_ = row_size_ * (copies_ ? rows_below(rows_) : height_.in);
  list_positions();
  list_cells();
}

void Patches::choose_chunks() {
  const int64_t image = std::max<int64_t>(input_extent(height_) * row_size_, 1);
  const int64_t places = height_.out * width_.out;
  if (image > kElementsPerChunk || batch_ < kMinChunks) {
    const int64_t fit = kElementsPerChunk / std::max<int64_t>(row_size_, 1) - rows_below(1);
    const int64_t wanted = ratio_up(height_.out, ratio_up(kMinChunks, batch_));
    rows_ = std::clamp<int64_t>(fit / height_.stride + 1, 1, wanted);
    bands_ = ratio_up(height_.out, rows_);
    groups_ = batch_;
    return;
  }
  rows_ = height_.out;
  images_ = std::min(kElementsPerChunk / image, ratio_up(kPositionsPerChunk, places));
  images_ = std::min(images_, batch_ / kMinChunks);
  groups_ = ratio_up(batch_, images_);
}

Patches::Chunk Patches::piece(int64_t number) const {
  Chunk p;
  p.image = number / bands_ * images_;
  p.images = std::min(images_, batch_ - p.image);
  p.top = number % bands_ * rows_;
  p.rows = std::min(rows_, height_.out - p.top);
  p.place = (p.image * height_.out + p.top) * width_.out;
  p.num_places = p.images * p.rows * width_.out;
  return p;
}

// Smaller chunks use a prefix of this list.
void Patches::list_positions() {
  const int64_t step = width_.stride * channels_;
  for (int64_t i = 0; i < images_; ++i) {
    for (int64_t oy = 0; oy < rows_; ++oy) {
      const int64_t row = i * image_size_ + oy * height_.stride * row_size_;
      for (int64_t ox = 0; ox < width_.out; ++ox) places_.push_back(row + ox * step);
      runs_of_row_ = add_runs(row, width_.out, step, rows_of_places_);
    }
  }
}

void Patches::list_cells() {
  const bool is_dense = width_.dilation == 1;
  for (int64_t ky = 0; ky < height_.size; ++ky) {
    const int64_t row = ky * height_.dilation * row_size_;
    if (is_dense) add_runs(row, width_.size * channels_, 1, rows_of_cells_);
    for (int64_t kx = 0; kx < width_.size; ++kx) {
      const int64_t cell = row + kx * width_.dilation * channels_;
      if (!is_dense) add_runs(cell, channels_, 1, rows_of_cells_);
      for (int64_t i = 0; i < channels_; ++i) cells_.push_back(cell + i);
    }
  }
}

GatheredRows Patches::by_position(const Chunk& piece) const {
  return {places_.data(), rows_of_cells_.data(), piece.num_places,
          static_cast<int64_t>(rows_of_cells_.size()), 1};
}

GatheredRows Patches::by_cell(const Chunk& piece) const {
  return {cells_.data(), rows_of_places_.data(), static_cast<int64_t>(cells_.size()),
          piece.images * piece.rows * runs_of_row_, width_.stride * channels_};
}

}  // namespace runhooks
