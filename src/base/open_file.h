// Opens regular files for reading, reads text files by line, and converts errno to an Error.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/status.h"

namespace runhooks {

// Throws "<problem> '<path>': <system error message>." with the code for `error_number`.
[[noreturn]] void throw_system(const char* problem, const std::string& path, int error_number);

// Callers check the kind before they open a path: opening a pipe or a device could block, and
// reading it may never end. Links are followed.
enum class FileKind { kNone, kRegular, kFolder, kPipe, kDevice, kBlockDevice, kOther };
FileKind file_kind(const std::string& path);
const char* file_kind_description(FileKind kind);

// Opens a regular file for reading. Throws if it is missing or of another kind.
std::FILE* open_regular_file(const std::string& path);

// Reads lines like TensorFlow reads vocabulary files: all carriage returns are removed.
class TextFile {
 public:
  explicit TextFile(std::string path) : path_(std::move(path)), file_(open_regular_file(path_)) {}
  ~TextFile() { std::fclose(file_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  // Reads the next line; FALSE at the end of the file.
  bool next(std::string* line);

 private:
  bool fill();

  std::string path_;
  std::FILE* file_;
  std::vector<char> block_;
  size_t begin_ = 0, end_ = 0;
};

}  // namespace runhooks
