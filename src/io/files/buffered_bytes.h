// BufferedBytes: buffered reading of a file with access to the bytes in place, and line splitting.
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
  // Reads more bytes, at least doubling the buffer unless a stream has fewer ready. FALSE at the
  // end of the file. Invalidates views.
  bool read_more();
  void take(size_t n) { begin_ += n; }
  // Position in the decompressed file of the first byte of view().
  uint64_t offset() const { return stream_.offset() - (buffer_.size() - begin_); }
  void seek(uint64_t offset);
  // Skips a byte order mark, and throws if a file that should be plain text is gzip data.
  void begin_text();

 private:
  ByteStream stream_;
  Compression compression_;
  std::string buffer_;
  size_t begin_ = 0;
};

// Reads the next line without its end; FALSE at the end of the file. Drops every carriage return,
// wherever it is, as TensorFlow does.
bool next_line(BufferedBytes& bytes, std::string* line);

}  // namespace runhooks
