// TextDecoder: converts text of files in a single-byte encoding to UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/factory.h"

namespace runhooks {

#define RUNHOOKS_ENCODING_ARGUMENTS                  \
  "encoding = NULL: string. Encoding of the files.", \
      "decoding = NULL: any. The characters for bytes 128 to 255, as one UTF-8 string."

// Without an encoding, text stays as it is, and invalid UTF-8 is only warned about.
class TextDecoder {
 public:
  explicit TextDecoder(const Args& args);
  bool has_encoding() const { return !name_.empty(); }
  // Converts `text` to UTF-8. If that changes it, `text` becomes a view of `decoded`. Returns false
  // if a byte is invalid.
  bool decode(std::string_view* text, std::string* decoded) const;
  // Throws for text that decode() rejects; `location` is "Line 3 of 'a.csv'".
  [[noreturn]] void throw_invalid(const std::string& location, std::string_view text) const;

 private:
  std::string name_;
  // The characters for bytes 128 to 255, "" for invalid bytes. Empty if the encoding is UTF-8.
  std::vector<std::string> characters_;
};

}  // namespace runhooks
