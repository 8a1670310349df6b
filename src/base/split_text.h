// Split_text(), the parts of a text between marks.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace runhooks {

// As many parts as the text has marks, and one more where it goes on after the last.
inline std::vector<std::string> split_text(const std::string& text, char mark) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(mark, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace runhooks
