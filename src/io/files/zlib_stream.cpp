#include "io/files/zlib_stream.h"

#include <zlib.h>

#include <algorithm>

#include "base/interrupt.h"
#include "base/pipe_reader.h"

namespace runhooks {

namespace {

constexpr size_t kChunk = 64 * 1024;

// Returns zlib's argument windowBits: 15 is the largest window, and adding 16 selects gzip.
int window_bits(Compression compression) {
  return compression == Compression::kGzip ? 15 + 16 : 15;
}

}  // namespace

Compression compression_from_name(const std::string& name) {
  if (name.empty()) return Compression::kNone;
  if (name == "GZIP") return Compression::kGzip;
  if (name == "ZLIB") return Compression::kZlib;
  invalid_argument("compression_type must be \"\", \"GZIP\" or \"ZLIB\"; got \"", name, "\".");
}

struct ByteStream::Inflater {
  explicit Inflater(Compression compression) {
    if (inflateInit2(&stream, window_bits(compression)) != Z_OK) {
      fail(Code::kResourceExhausted, "Cannot start zlib.");
    }
  }
  ~Inflater() { inflateEnd(&stream); }
  z_stream stream = {};
  char input[kChunk];
  bool at_end = false;  // whether all compressed input has been read
};

ByteStream::ByteStream(const ByteSource& source, Compression compression)
    : path_(source.path), compression_(compression) {
  if (source.is_stream) {
    stream_ = std::make_unique<PipeReader>(path_);
  } else {
    file_ = std::make_unique<InputFile>(path_);
  }
  if (compression != Compression::kNone) inflater_ = std::make_unique<Inflater>(compression);
}

ByteStream::~ByteStream() = default;

size_t ByteStream::read(void* data, size_t size) {
  size_t num_read = 0;
  while (num_read < size) {
    const size_t count = read_some(static_cast<char*>(data) + num_read, size - num_read);
    if (count == 0) break;
    num_read += count;
  }
  return num_read;
}

size_t ByteStream::read_some(void* data, size_t size) {
  const size_t num_read = inflater_ ? inflate_some(data, size) : read_source(data, size);
  offset_ += num_read;
  return num_read;
}

size_t ByteStream::read_source(void* data, size_t size) {
  return file_ ? file_->read(data, size) : stream_->read(data, size);
}

size_t ByteStream::inflate_some(void* data, size_t size) {
  z_stream& stream = inflater_->stream;
  const size_t num_bytes = std::min(size, static_cast<size_t>(1) << 30);
  stream.next_out = static_cast<Bytef*>(data);
  stream.avail_out = static_cast<uInt>(num_bytes);
  while (stream.avail_out == num_bytes) {
    check_interrupt();
    if (stream.avail_in == 0) {
      stream.avail_in = static_cast<uInt>(read_source(inflater_->input, kChunk));
      stream.next_in = reinterpret_cast<Bytef*>(inflater_->input);
      if (stream.avail_in == 0) return 0;
    }
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      // A file may contain several concatenated streams.
      inflateReset(&stream);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      fail(Code::kDataLoss, "Corrupted compressed data in '", path(), "' after ", offset_,
           " bytes: ", stream.msg ? stream.msg : "unknown zlib error", ".");
    }
  }
  return num_bytes - stream.avail_out;
}

void ByteStream::seek(uint64_t offset) {
  if (!file_) {
    fail(Code::kFailedPrecondition, "'", path_, "' is a stream; it cannot seek.");
  }
  if (!inflater_) {
    file_->read_at(offset, nullptr, 0);
    offset_ = offset;
    return;
  }
  file_->read_at(0, nullptr, 0);
  inflater_ = std::make_unique<Inflater>(compression_);
  offset_ = 0;
  std::string skipped(kChunk, '\0');
  while (offset_ < offset) {
    check_interrupt();
    const uint64_t step = std::min<uint64_t>(kChunk, offset - offset_);
    if (read(skipped.data(), static_cast<size_t>(step)) < step) break;
  }
}

uint64_t ByteStream::remaining() const {
  if (inflater_ || !file_) return kUnknown;
  return file_->size() > offset_ ? file_->size() - offset_ : 0;
}

struct CompressedOutput::Deflater {
  explicit Deflater(Compression compression) {
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits(compression), 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      fail(Code::kResourceExhausted, "Cannot start zlib.");
    }
  }
  ~Deflater() { deflateEnd(&stream); }
  z_stream stream = {};
};

CompressedOutput::CompressedOutput(OutputFile& file, Compression compression) : file_(file) {
  if (compression != Compression::kNone) deflater_ = std::make_unique<Deflater>(compression);
}

CompressedOutput::~CompressedOutput() = default;

void CompressedOutput::deflate_all(std::string_view bytes, int mode) {
  z_stream& stream = deflater_->stream;
  char output[kChunk];
  do {
    const size_t step = std::min(bytes.size(), static_cast<size_t>(1) << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(step);
    bytes.remove_prefix(step);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(output);
      stream.avail_out = sizeof output;
      deflate(&stream, bytes.empty() ? mode : Z_NO_FLUSH);
      file_.write(output, sizeof output - stream.avail_out);
    } while (stream.avail_out == 0);
  } while (!bytes.empty());
}

void CompressedOutput::write(std::string_view bytes) {
  if (deflater_)
    deflate_all(bytes, Z_NO_FLUSH);
  else
    file_.write(bytes);
}

void CompressedOutput::flush() {
  if (deflater_) deflate_all({}, Z_SYNC_FLUSH);
  file_.flush();
}

void CompressedOutput::finish() {
  if (!deflater_) return;
  deflate_all({}, Z_FINISH);
  deflater_.reset();
}

}  // namespace runhooks
