#include "io/formats/png.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>

#include "base/status.h"

namespace runhooks {

namespace {

constexpr char kSignature[] = "\x89PNG\r\n\x1a\n";
constexpr size_t kSignatureSize = 8;
enum ColorType { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgbAlpha = 6 };

[[noreturn]] void throw_invalid(const char* problem) {
  invalid_argument("Invalid PNG data: ", problem, ".");
}

uint32_t load32(std::string_view bytes, size_t at) {
  const auto b = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + i]));
  };
  return b(0) << 24 | b(1) << 16 | b(2) << 8 | b(3);
}

void append32(std::string& out, uint32_t x) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(x >> shift & 0xff);
}

struct Header {
  int64_t width = 0, height = 0;
  int depth = 0, color = 0;
  bool is_interlaced = false;
  int samples() const {
    static const int kCounts[] = {1, 0, 3, 1, 2, 0, 4};
    return kCounts[color];
  }
  size_t row_bytes(int64_t pixels) const {
    return (static_cast<size_t>(pixels) * static_cast<size_t>(samples() * depth) + 7) / 8;
  }
};

Header read_header(std::string_view chunk, int64_t max_samples) {
  if (chunk.size() != 13) throw_invalid("its header has the wrong size");
  Header header;
  header.width = load32(chunk, 0);
  header.height = load32(chunk, 4);
  header.depth = static_cast<uint8_t>(chunk[8]);
  header.color = static_cast<uint8_t>(chunk[9]);
  header.is_interlaced = chunk[12] != 0;
  const int depth = header.depth, color = header.color;
  const bool is_known_color = color == kGray || color == kRgb || color == kPalette ||
                              color == kGrayAlpha || color == kRgbAlpha;
  const bool is_low_depth = depth == 1 || depth == 2 || depth == 4;
  const bool is_valid = is_known_color && (depth == 8 || (depth == 16 && color != kPalette) ||
                                           (is_low_depth && (color == kGray || color == kPalette)));
  if (!is_valid || chunk[10] != 0 || chunk[11] != 0 || static_cast<uint8_t>(chunk[12]) > 1) {
    throw_invalid("its color type or bit depth is unknown");
  }
  if (header.width == 0 || header.height == 0) throw_invalid("it has no pixels");
  if (header.width > max_samples / 4 / header.height) {
    fail(Code::kResourceExhausted, "A PNG of ", header.height, " x ", header.width,
         " pixels is too large.");
  }
  return header;
}

struct PngChunks {
  Header header;
  std::string palette, alpha, data;
  bool has_alpha = false;
};

PngChunks read_chunks(std::string_view bytes, int64_t max_samples) {
  if (bytes.substr(0, kSignatureSize) != std::string_view(kSignature, kSignatureSize)) {
    throw_invalid("it has no PNG signature");
  }
  PngChunks chunks;
  bool has_header = false;
  for (size_t at = kSignatureSize; bytes.size() - at >= 12;) {
    const size_t size = load32(bytes, at);
    if (size > bytes.size() - at - 12) throw_invalid("it is truncated");
    const std::string_view type = bytes.substr(at + 4, 4), chunk = bytes.substr(at + 8, size);
    const auto* type_and_data = reinterpret_cast<const Bytef*>(type.data());
    if (crc32(0, type_and_data, static_cast<uInt>(size + 4)) != load32(bytes, at + 8 + size)) {
      throw_invalid("a checksum does not match");
    }
    at += size + 12;
    if (type == "IHDR") {
      chunks.header = read_header(chunk, max_samples);
      has_header = true;
    }
    if (!has_header) throw_invalid("it has no header");
    if (type == "PLTE") chunks.palette = chunk;
    if (type == "tRNS") {
      chunks.alpha = chunk;
      chunks.has_alpha = true;
    }
    if (type == "IDAT") chunks.data += chunk;
    if (type == "IEND") return chunks;
  }
  throw_invalid("it is truncated");
}

std::string inflate_pixels(const std::string& data, size_t size) {
  std::string out(size, '\0');
  uLongf length = static_cast<uLongf>(size);
  const int result =
      uncompress(reinterpret_cast<Bytef*>(&out[0]), &length,
                 reinterpret_cast<const Bytef*>(data.data()), static_cast<uLong>(data.size()));
  // If the buffer is full, all pixels are known; Z_BUF_ERROR then means that further data follow.
  // Ignores them, as libpng does.
  if (result != Z_OK && !(result == Z_BUF_ERROR && length == size))
    throw_invalid("its pixel data are damaged");
  if (length != size) throw_invalid("it has too few pixels");
  return out;
}

uint8_t paeth_predictor(int a, int b, int c) {
  const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  return static_cast<uint8_t>(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

void unfilter(uint8_t* row, const uint8_t* above, size_t size, size_t bytes_per_pixel, int filter) {
  if (filter > 4) throw_invalid("it uses an unknown filter");
  for (size_t i = 0; i < size; ++i) {
    const int left = i >= bytes_per_pixel ? row[i - bytes_per_pixel] : 0, up = above ? above[i] : 0;
    const int upper_left = i >= bytes_per_pixel && above ? above[i - bytes_per_pixel] : 0;
    int predictor = 0;
    if (filter == 1) predictor = left;
    if (filter == 2) predictor = up;
    if (filter == 3) predictor = (left + up) / 2;
    if (filter == 4) predictor = paeth_predictor(left, up, upper_left);
    row[i] = static_cast<uint8_t>(row[i] + predictor);
  }
}

uint16_t sample_at(const uint8_t* row, size_t i, int depth) {
  if (depth == 16) return static_cast<uint16_t>(row[2 * i] << 8 | row[2 * i + 1]);
  if (depth == 8) return row[i];
  const size_t per_byte = 8 / static_cast<size_t>(depth);
  const int shift = 8 - depth * static_cast<int>(i % per_byte + 1);
  return static_cast<uint16_t>(row[i / per_byte] >> shift & ((1 << depth) - 1));
}

// A pass of Adam7 interlacing: its first column and row, and the steps between columns and rows.
struct Pass {
  int64_t x, y, dx, dy;
};
std::vector<Pass> passes_of(const Header& header) {
  if (!header.is_interlaced) return {{0, 0, 1, 1}};
  return {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
          {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
}
int64_t num_pixels(int64_t size, int64_t from, int64_t by) {
  return size > from ? (size - from + by - 1) / by : 0;
}

// Returns the samples as stored in the file, before palette lookup and scaling.
std::vector<uint16_t> decode_samples(const PngChunks& chunks) {
  const Header& h = chunks.header;
  size_t total = 0;
  for (const Pass& pass : passes_of(h)) {
    const int64_t w = num_pixels(h.width, pass.x, pass.dx),
                  n = num_pixels(h.height, pass.y, pass.dy);
    if (w > 0) total += static_cast<size_t>(n) * (h.row_bytes(w) + 1);
  }
  std::string data = inflate_pixels(chunks.data, total);
  const int k = h.samples();
  std::vector<uint16_t> samples(static_cast<size_t>(h.width * h.height * k));
  const size_t bytes_per_pixel = std::max<size_t>(1, static_cast<size_t>(k * h.depth) / 8);
  auto* at = reinterpret_cast<uint8_t*>(&data[0]);
  for (const Pass& pass : passes_of(h)) {
    const int64_t w = num_pixels(h.width, pass.x, pass.dx),
                  n = num_pixels(h.height, pass.y, pass.dy);
    const size_t bytes = h.row_bytes(w);
    const uint8_t* above = nullptr;
    for (int64_t r = 0; w > 0 && r < n; ++r) {
      uint8_t* row = at + 1;
      unfilter(row, above, bytes, bytes_per_pixel, *at);
      for (int64_t c = 0; c < w; ++c) {
        const int64_t pixel = (pass.y + r * pass.dy) * h.width + pass.x + c * pass.dx;
        for (int s = 0; s < k; ++s) {
          samples[static_cast<size_t>(pixel * k + s)] =
              sample_at(row, static_cast<size_t>(c * k + s), h.depth);
        }
      }
      above = row;
      at += bytes + 1;
    }
  }
  return samples;
}

Image expand_samples(const PngChunks& chunks) {
  const Header& h = chunks.header;
  const std::vector<uint16_t> stored_samples = decode_samples(chunks);
  Image image;
  image.height = h.height;
  image.width = h.width;
  image.bits = h.depth == 16 ? 16 : 8;
  const bool has_palette = h.color == kPalette;
  const int colors = h.color == kGray || h.color == kGrayAlpha ? 1 : 3;
  const bool has_alpha = chunks.has_alpha || h.color == kGrayAlpha || h.color == kRgbAlpha;
  image.channels = colors + has_alpha;
  const auto opaque = static_cast<uint16_t>(image.bits == 16 ? 65535 : 255);
  const int scale = h.depth < 8 && !has_palette ? 255 / ((1 << h.depth) - 1) : 1;
  const auto byte = [](const std::string& text, size_t i) {
    return static_cast<uint16_t>(static_cast<uint8_t>(text[i]));
  };
  const size_t k = static_cast<size_t>(h.samples());
  image.samples.reserve(static_cast<size_t>(h.width * h.height * image.channels));
  for (size_t pixel = 0; pixel * k < stored_samples.size(); ++pixel) {
    const uint16_t* sample = &stored_samples[pixel * k];
    uint16_t alpha = opaque;
    if (has_palette) {
      const size_t entry = 3 * static_cast<size_t>(sample[0]);
      if (entry + 3 > chunks.palette.size()) throw_invalid("a color index is outside its palette");
      for (size_t s = 0; s < 3; ++s) image.samples.push_back(byte(chunks.palette, entry + s));
      if (sample[0] < chunks.alpha.size()) alpha = byte(chunks.alpha, sample[0]);
    } else {
      bool is_clear = chunks.has_alpha && chunks.alpha.size() == 2 * static_cast<size_t>(colors);
      for (int s = 0; s < colors; ++s) {
        image.samples.push_back(static_cast<uint16_t>(sample[s] * scale));
        const auto i = static_cast<size_t>(2 * s);
        is_clear =
            is_clear && sample[s] == (byte(chunks.alpha, i) << 8 | byte(chunks.alpha, i + 1));
      }
      if (is_clear) alpha = 0;
      if (h.color == kGrayAlpha || h.color == kRgbAlpha) alpha = sample[colors];
    }
    if (has_alpha) image.samples.push_back(alpha);
  }
  return image;
}

// Converts an image to this number of channels as libpng does for TensorFlow: copies gray to R, G
// and B, and converts RGB to gray with libpng's weights.
Image with_channels(const Image& image, int channels) {
  if (channels == 0 || channels == image.channels) return image;
  Image out = image;
  out.channels = channels;
  out.samples.clear();
  const bool has_alpha_in = image.channels % 2 == 0, has_alpha_out = channels % 2 == 0;
  const int colors_in = image.channels - has_alpha_in, colors_out = channels - has_alpha_out;
  const auto opaque = static_cast<uint16_t>(image.bits == 16 ? 65535 : 255);
  const auto k = static_cast<size_t>(image.channels);
  for (size_t at = 0; at < image.samples.size(); at += k) {
    const uint16_t* sample = &image.samples[at];
    if (colors_in == colors_out) {
      out.samples.insert(out.samples.end(), sample, sample + colors_in);
    } else if (colors_out == 3) {
      out.samples.insert(out.samples.end(), 3, sample[0]);
    } else {
      const uint32_t gray = (6968u * sample[0] + 23434u * sample[1] + 2366u * sample[2]) >> 15;
      out.samples.push_back(static_cast<uint16_t>(gray));
    }
    if (has_alpha_out) out.samples.push_back(has_alpha_in ? sample[colors_in] : opaque);
  }
  return out;
}

void append_chunk(std::string& out, const char* type, const std::string& data) {
  append32(out, static_cast<uint32_t>(data.size()));
  const std::string type_and_data = type + data;
  out += type_and_data;
  append32(out, static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(type_and_data.data()),
                                            static_cast<uInt>(type_and_data.size()))));
}

}  // namespace

Image read_png(std::string_view bytes, int channels, int64_t max_samples) {
  return with_channels(expand_samples(read_chunks(bytes, max_samples)), channels);
}

std::string write_png(const Image& image, int compression) {
  static const char kColors[] = {0, kGray, kGrayAlpha, kRgb, kRgbAlpha};
  std::string header, rows;
  append32(header, static_cast<uint32_t>(image.width));
  append32(header, static_cast<uint32_t>(image.height));
  header += static_cast<char>(image.bits);
  header += kColors[image.channels];
  header += std::string(3, '\0');
  const int64_t row = image.width * image.channels;
  for (int64_t i = 0; i < image.height * row; ++i) {
    if (i % row == 0) rows += '\0';
    const uint16_t sample = image.samples[static_cast<size_t>(i)];
    if (image.bits == 16) rows += static_cast<char>(sample >> 8);
    rows += static_cast<char>(sample & 0xff);
  }
  uLongf size = compressBound(static_cast<uLong>(rows.size()));
  std::string data(size, '\0');
  const int result = compress2(reinterpret_cast<Bytef*>(&data[0]), &size,
                               reinterpret_cast<const Bytef*>(rows.data()),
                               static_cast<uLong>(rows.size()), compression);
  if (result != Z_OK) fail(Code::kInternal, "zlib cannot compress an image.");
  data.resize(size);
  std::string out(kSignature, kSignatureSize);
  append_chunk(out, "IHDR", header);
  append_chunk(out, "IDAT", data);
  append_chunk(out, "IEND", "");
  return out;
}

std::string encode_png(const uint8_t* pixels, int64_t width, int64_t height, int channels) {
  constexpr int64_t kMaxPixels = int64_t{1} << 30;
  if (width < 1 || height < 1 || width > kMaxPixels / height || channels < 1 || channels > 4) {
    invalid_argument("An image of ", width, " x ", height, " pixels and ", channels,
                     " channels cannot be encoded.");
  }
  Image image;
  image.height = height;
  image.width = width;
  image.channels = channels;
  image.samples.assign(pixels, pixels + width * height * channels);
  return write_png(image);
}

}  // namespace runhooks
