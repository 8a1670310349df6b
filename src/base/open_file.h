// Opening files to read, regular ones only, their lines, and errors of the system in words.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/status.h"

namespace runhooks {

// Throws "<problem> '<path>': <the system's words for errno>." with the code that fits
// `error_number`.
[[noreturn]] void throw_system(const char* problem, const std::string& path, int error_number);

// What stands at a path, links followed. A pipe or a device may have no end, and keep whoever opens
// it waiting.
enum class FileKind { kNone, kRegular, kFolder, kPipe, kDevice, kDisk, kOther };
FileKind file_kind(const std::string& path);
// "a pipe"
const char* file_kind_words(FileKind kind);

// A file to read from; throws where there is none, and names what is no regular file.
std::FILE* open_regular_file(const std::string& path);

// The lines of a file as TensorFlow reads vocabularies: a carriage return is no part of a line,
// wherever it stands.
class TextFile {
 public:
  explicit TextFile(std::string path) : path_(std::move(path)), file_(open_regular_file(path_)) {}
  ~TextFile() { std::fclose(file_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  // The next line without its end; FALSE behind the last.
  bool next(std::string* line);

 private:
  bool fill();

  std::string path_;
  std::FILE* file_;
  std::vector<char> block_;
  size_t begin_ = 0, end_ = 0;
};

}  // namespace runhooks
