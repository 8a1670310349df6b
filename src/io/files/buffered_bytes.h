// BufferedBytes, the bytes of a file that are looked at in place, and lines of them.
#pragma once

#include <string>
#include <string_view>

#include "io/files/zlib_stream.h"

namespace runhooks {

class BufferedBytes {
 public:
  BufferedBytes(const ByteSource& source, Compression compression);

  const std::string& path() const { return stream_.path(); }
  // What has been read and not been taken.
  std::string_view view() const { return std::string_view(buffer_).substr(begin_); }
  // Reads as much again behind it, or more; of a stream, as long as that is little, what has come.
  // FALSE at the end of the file. Views become invalid.
  bool more();
  void take(size_t n) { begin_ += n; }
  // Of the first byte that has not been taken, in the decompressed file.
  uint64_t offset() const { return stream_.offset() - (buffer_.size() - begin_); }
  void seek(uint64_t offset);
  // Leaves out a byte order mark at the beginning of the file, and checks that a plain file is none
  // that was compressed.
  void begin_text();

 private:
  ByteStream stream_;
  Compression compression_;
  std::string buffer_;
  size_t begin_ = 0;
};

// The next line without its end; FALSE at the end of the file. A carriage return is no part of a
// line, wherever it stands, as in TensorFlow.
bool next_line(BufferedBytes& bytes, std::string* line);

}  // namespace runhooks
