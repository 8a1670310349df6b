// What lives here: read_line(), a line of a text file as TensorFlow reads vocabularies.
// Who may use it: every layer.
// What it must not know: what a line means, R.
#pragma once

#include <algorithm>
#include <istream>
#include <string>

namespace runhooks {

// The next line without its end; a carriage return is no part of a line, wherever it stands.
inline bool read_line(std::istream& file, std::string* line) {
  if (!std::getline(file, *line)) return false;
  line->erase(std::remove(line->begin(), line->end(), '\r'), line->end());
  return true;
}

}  // namespace runhooks
