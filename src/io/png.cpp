#include "io/png.h"

#include <zlib.h>

#include "base/status.h"

namespace runhooks {

namespace {

void append_big_endian(std::string& out, uint32_t x) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(x >> shift & 0xff);
}

void append_chunk(std::string& out, const std::string& type, const std::string& data) {
  append_big_endian(out, static_cast<uint32_t>(data.size()));
  const std::string body = type + data;
  out += body;
  append_big_endian(out, static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                                                     static_cast<uInt>(body.size()))));
}

std::string deflated(const std::string& data) {
  uLongf size = compressBound(static_cast<uLong>(data.size()));
  std::string out(size, '\0');
  const int status =
      compress(reinterpret_cast<Bytef*>(&out[0]), &size,
               reinterpret_cast<const Bytef*>(data.data()), static_cast<uLong>(data.size()));
  if (status != Z_OK) fail(Code::kInternal, "An image could not be compressed.");
  out.resize(size);
  return out;
}

}  // namespace

std::string encode_png(const uint8_t* pixels, int64_t width, int64_t height, int channels) {
  constexpr int64_t kLargest = int64_t{1} << 30;
  if (width < 1 || height < 1 || width * height > kLargest || channels < 1 || channels > 4) {
    invalid_argument("An image of ", width, " x ", height, " pixels and ", channels,
                     " channels cannot be encoded.");
  }
  constexpr char kColorTypes[] = {0, 4, 2, 6};
  std::string out = "\x89PNG\r\n\x1a\n";
  std::string header;
  append_big_endian(header, static_cast<uint32_t>(width));
  append_big_endian(header, static_cast<uint32_t>(height));
  header += std::string{8, kColorTypes[channels - 1], 0, 0, 0};
  append_chunk(out, "IHDR", header);
  // each row begins with the number of its filter, 0 for none
  const auto row = static_cast<size_t>(width) * static_cast<size_t>(channels);
  std::string rows;
  rows.reserve((row + 1) * static_cast<size_t>(height));
  for (int64_t y = 0; y < height; ++y) {
    rows += '\0';
    rows.append(reinterpret_cast<const char*>(pixels) + static_cast<size_t>(y) * row, row);
  }
  append_chunk(out, "IDAT", deflated(rows));
  append_chunk(out, "IEND", "");
  return out;
}

}  // namespace runhooks
