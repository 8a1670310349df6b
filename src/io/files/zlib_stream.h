// Reading and writing a file through zlib, as gzip or as a zlib stream.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/files/atomic_file.h"

namespace runhooks {

class PipeReader;

enum class Compression { kNone, kGzip, kZlib };

// "", "GZIP" and "ZLIB", as TensorFlow spells them; other words throw.
Compression compression_from_name(const std::string& name);

// A regular file, or with `is_stream` what gives its bytes as they come: a pipe, a device.
struct ByteSource {
  ByteSource(std::string where, bool streams = false)
      : path(std::move(where)), is_stream(streams) {}
  std::string path;
  bool is_stream;
};

// The bytes of a file, decompressed. A compressed file that ends too early gives what can be read
// of it.
class ByteStream {
 public:
  ByteStream(const ByteSource& source, Compression compression);
  ~ByteStream();

  const std::string& path() const { return path_; }
  // As many of the next `size` bytes as there are.
  size_t read(void* data, size_t size);
  // The same, but for a stream those that have come; 0 at its end only.
  size_t read_some(void* data, size_t size);
  uint64_t offset() const { return offset_; }
  // What has been read of a stream is gone.
  bool can_seek() const { return !stream_; }
  // To a place in the decompressed bytes; in a compressed file it reads again from the start.
  void seek(uint64_t offset);
  // What is left of a plain file; kUnknown for a compressed one and a stream.
  static constexpr uint64_t kUnknown = ~uint64_t{0};
  uint64_t remaining() const;

 private:
  struct Inflater;
  size_t read_source(void* data, size_t size);
  size_t inflate_some(void* data, size_t size);

  std::string path_;
  std::unique_ptr<InputFile> file_;  // or
  std::unique_ptr<PipeReader> stream_;
  Compression compression_;
  std::unique_ptr<Inflater> inflater_;
  uint64_t offset_ = 0;
};

// Compresses what is appended to a file. finish() is what completes the stream; the file stays
// open.
class CompressedOutput {
 public:
  CompressedOutput(OutputFile& file, Compression compression);
  ~CompressedOutput();
  void write(std::string_view bytes);
  void flush();
  void finish();

 private:
  struct Deflater;
  void deflate_all(std::string_view bytes, int mode);

  OutputFile& file_;
  std::unique_ptr<Deflater> deflater_;
};

}  // namespace runhooks
