// split_text(): splits a string at a separator.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace runhooks {

// A separator at the end does not add an empty part.
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
