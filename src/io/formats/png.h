// Reads and writes PNG images in memory, with 8 or 16 bits per sample.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace runhooks {

struct Image {
  int64_t height = 0, width = 0;
  int channels = 0;  // 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha
  int bits = 8;      // or 16
  std::vector<uint16_t> samples;
};

// Reads any PNG, including palettes, low bit depths and interlacing. `channels` 0 keeps the number
// of the image. As in TensorFlow's op, unreadable data are kInvalidArgument. `max_samples` limits
// the size.
Image read_png(std::string_view bytes, int channels, int64_t max_samples = int64_t{1} << 28);
std::string write_png(const Image& image, int compression = -1);
std::string encode_png(const uint8_t* pixels, int64_t width, int64_t height, int channels);

}  // namespace runhooks
