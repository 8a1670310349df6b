// Splits and trims strings.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace runhooks {

// A separator at the end does not add an empty part.
inline std::vector<std::string> split_text(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Removes spaces and newlines at both ends.
inline std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \n"), end = text.find_last_not_of(" \n");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

}  // namespace runhooks
