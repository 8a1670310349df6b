// PlainData: R vectors and lists, without functions and environments, and their serialized form.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runhooks {

// A vector of one kind or a list, with attributes that are plain data too.
struct PlainData {
  enum class Kind : int {
    kNull = 0,
    kLogical = 1,  // int32: 0, 1, or INT_MIN for missing
    kInteger = 2,
    kDouble = 3,
    kComplex = 4,
    kCharacter = 5,
    kRaw = 6,
    kList = 7,
  };
  struct Text {
    enum class Mark : int { kUtf8 = 0, kMissing = 1, kBytes = 2 };
    std::string bytes;
    Mark mark = Mark::kUtf8;  // the encoding of `bytes`, or kMissing for NA
  };

  Kind kind = Kind::kNull;
  std::string numbers;  // in native byte order
  std::vector<Text> texts;
  std::vector<PlainData> items;
  std::vector<std::pair<std::string, PlainData>> attributes;

  // Size of one element in `numbers`; 0 for kinds that do not use it.
  static size_t element_size(Kind kind);
  size_t length() const;
};

constexpr int kMaxPlainDepth = 100;

std::string write_plain_data(const PlainData& data);
// Throws kDataLoss, naming `where`, if the bytes are invalid.
PlainData read_plain_data(std::string_view bytes, std::string_view where);

// Write and read the same bytes in a file, after a header that identifies the format.
void write_plain_file(const std::string& path, const PlainData& data);
PlainData read_plain_file(const std::string& path);

}  // namespace runhooks
