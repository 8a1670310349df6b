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

// Reads any PNG, including palettes, low bit depths and interlacing. Converts it to `channels`,
// unless that is 0. Throws kInvalidArgument for damaged data, as TensorFlow's op does, and
// kResourceExhausted for more than `max_samples` samples.
Image read_png(std::string_view bytes, int channels, int64_t max_samples = int64_t{1} << 28);
// Returns the bytes of a PNG file. `compression` is zlib's level; -1 is zlib's default.
std::string write_png(const Image& image, int compression = -1);
// Like write_png(), for `pixels` with 8 bits per sample.
std::string encode_png(const uint8_t* pixels, int64_t width, int64_t height, int channels);

}  // namespace runhooks
