// TextDecoder: converts text of files in a single-byte encoding to UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/factory.h"

namespace runhooks {

#define RUNHOOKS_ENCODING_ARGUMENTS                                                   \
  "encoding = NULL: string. Encoding of the files.",                                  \
      "decoding = NULL: any. The characters of the bytes from 128, as one UTF-8 text."

// Without an encoding, text stays as it is, and invalid UTF-8 is only warned about.
class TextDecoder {
 public:
  explicit TextDecoder(const Args& args);
  bool is_given() const { return !name_.empty(); }
  // Replaces `text` by its UTF-8 form, for which `decoded` provides the memory. Returns false if a
  // byte is invalid.
  bool decode(std::string_view* text, std::string* decoded) const;
  // Throws for text that decode() rejects; `where` is "Line 3 of 'a.csv'".
  [[noreturn]] void throw_invalid(const std::string& where, std::string_view text) const;

 private:
  std::string name_;
  std::vector<std::string> characters_;  // of bytes 128 to 255, "" if invalid; none for UTF-8
};

}  // namespace runhooks
