// BufferedBytes: a buffer of the bytes of a file, which callers parse in place. Also reads lines.
#pragma once

#include <string>
#include <string_view>

#include "io/files/zlib_stream.h"

namespace runhooks {

class BufferedBytes {
 public:
  BufferedBytes(const ByteSource& source, Compression compression);

  const std::string& path() const { return stream_.path(); }
  // Bytes that take() has not consumed.
  std::string_view view() const { return std::string_view(buffer_).substr(begin_); }
  // Appends more bytes to view(); returns FALSE at the end of the file. Doubles the buffer, unless
  // a pipe has fewer bytes ready. Invalidates earlier views.
  bool read_more();
  // Marks the first n bytes of view() as consumed.
  void take(size_t n) { begin_ += n; }
  // Position in the decompressed file of the first byte of view().
  uint64_t offset() const { return stream_.offset() - (buffer_.size() - begin_); }
  void seek(uint64_t offset);
  // Skips a byte order mark, and throws if a file that should be plain text is gzip data.
  void skip_byte_order_mark();

 private:
  ByteStream stream_;
  Compression compression_;
  std::string buffer_;
  size_t begin_ = 0;
};

// Reads the next line without its line end; FALSE at the end of the file. Removes all carriage
// returns from the line, as TensorFlow does.
bool next_line(BufferedBytes& bytes, std::string* line);

}  // namespace runhooks
