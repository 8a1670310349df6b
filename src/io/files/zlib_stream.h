// Streams that read and write files with gzip or zlib compression.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/files/atomic_file.h"

namespace runhooks {

class PipeReader;

enum class Compression { kNone, kGzip, kZlib };

// Accepts "", "GZIP" and "ZLIB", as TensorFlow does; throws for other names.
Compression compression_from_name(const std::string& name);

// The path of a regular file or, if `is_stream`, of a pipe or device.
struct ByteSource {
  ByteSource(std::string source_path, bool is_pipe_or_device = false)
      : path(std::move(source_path)), is_stream(is_pipe_or_device) {}
  std::string path;
  bool is_stream;
};

// Decompressed bytes of a file. A truncated compressed file yields the part that can be decoded.
class ByteStream {
 public:
  ByteStream(const ByteSource& source, Compression compression);
  ~ByteStream();

  const std::string& path() const { return path_; }
  // Reads `size` bytes; fewer only at the end.
  size_t read(void* data, size_t size);
  // Reads up to `size` bytes, as soon as a stream has some; returns 0 only at the end.
  size_t read_some(void* data, size_t size);
  uint64_t offset() const { return offset_; }
  bool can_seek() const { return !stream_; }
  // Position in the decompressed bytes. A compressed file is decompressed again from the start.
  void seek(uint64_t offset);
  // Bytes left in an uncompressed file; kUnknown for compressed files and streams.
  static constexpr uint64_t kUnknown = ~uint64_t{0};
  uint64_t remaining() const;

 private:
  struct Inflater;
  size_t read_source(void* data, size_t size);
  size_t inflate_some(void* data, size_t size);

  std::string path_;
  std::unique_ptr<InputFile> file_;  // NULL for streams
  std::unique_ptr<PipeReader> stream_;
  Compression compression_;
  std::unique_ptr<Inflater> inflater_;
  uint64_t offset_ = 0;
};

// Compresses data into a file. finish() completes the compressed stream, but leaves the file open.
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
