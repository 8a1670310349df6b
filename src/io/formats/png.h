// PNG images of 8 and 16 bits a sample, in memory: a reader and a writer.
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
  // By row, column, channel.
  std::vector<uint16_t> samples;
};

// Of any kind of PNG: with a palette, with few bits, interlaced. `channels` is what is wanted, 0 is
// what the image has. What cannot be read is kInvalidArgument, as of TensorFlow's op; `max_samples`
// is the most that the image may have.
Image read_png(std::string_view bytes, int channels, int64_t max_samples = int64_t{1} << 28);
// `compression` is zlib's level, -1 its default.
std::string write_png(const Image& image, int compression = -1);
// The same of 8 bits a sample, with pixels in a row.
std::string encode_png(const uint8_t* pixels, int64_t width, int64_t height, int channels);

}  // namespace runhooks
