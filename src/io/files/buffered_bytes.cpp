#include "io/files/buffered_bytes.h"

#include <algorithm>

#include "base/interrupt.h"

namespace runhooks {

namespace {
constexpr size_t kBlockBytes = 128 * 1024, kMaxRead = size_t{64} << 20;
// A longer record usually means that a closing quote is missing.
constexpr size_t kMaxRecordBytes = size_t{1} << 28;
// Byte order marks and the first bytes of a gzip file.
constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf", kGzipMagic = "\x1f\x8b";
constexpr std::string_view kUtf16Marks[] = {"\xff\xfe", "\xfe\xff"};
}  // namespace

BufferedBytes::BufferedBytes(const ByteSource& source, Compression compression)
    : stream_(source, compression), compression_(compression) {}

bool BufferedBytes::read_more() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const size_t size = buffer_.size();
  if (size > kMaxRecordBytes) {
    fail(Code::kDataLoss, "The record of '", path(), "' at byte ", offset(), " is longer than ",
         static_cast<unsigned long>(kMaxRecordBytes), " bytes.");
  }
  // resize() fills the block with zeros, so the block must not be much larger than a small file.
  uint64_t num_bytes =
      std::min<uint64_t>(std::clamp(size, kBlockBytes, kMaxRead), stream_.remaining());
  buffer_.resize(size + static_cast<size_t>(num_bytes));
  char* destination = buffer_.data() + size;
  // Callers rescan the view after each call, so while a long record is incomplete, reads must be
  // large. Only the first block of a pipe returns early, with the bytes that are available.
  const bool returns_early = !stream_.can_seek() && size < kBlockBytes;
  const size_t num_read = returns_early
                              ? stream_.read_some(destination, static_cast<size_t>(num_bytes))
                              : stream_.read(destination, static_cast<size_t>(num_bytes));
  buffer_.resize(size + num_read);
  return num_read > 0;
}

void BufferedBytes::seek(uint64_t offset) {
  buffer_.clear();
  begin_ = 0;
  stream_.seek(offset);
}

void BufferedBytes::skip_byte_order_mark() {
  while (view().size() < kUtf8Mark.size() && read_more()) {
  }
  if (compression_ == Compression::kNone && view().substr(0, kGzipMagic.size()) == kGzipMagic) {
    throw Error(Code::kInvalidArgument, str_cat("'", path(), "' is compressed."),
                {"Use `compression_type = \"GZIP\"`."});
  }
  for (const std::string_view mark : kUtf16Marks) {
    if (view().substr(0, mark.size()) != mark) continue;
    throw Error(Code::kInvalidArgument, str_cat("'", path(), "' is UTF-16."),
                {"Convert it first: `lines <- readLines(file(path, encoding = \"UTF-16\"))`, then "
                 "`writeLines(lines, new_path, useBytes = TRUE)`."});
  }
  if (view().substr(0, kUtf8Mark.size()) == kUtf8Mark) take(kUtf8Mark.size());
}

bool next_line(BufferedBytes& bytes, std::string* line) {
  size_t end = bytes.view().find('\n');
  for (size_t seen = 0; end == std::string_view::npos; end = bytes.view().find('\n', seen)) {
    seen = bytes.view().size();
    if (!bytes.read_more()) break;
  }
  const std::string_view text = bytes.view().substr(0, end);
  if (end == std::string_view::npos && text.empty()) return false;
  if (text.size() > kBlockBytes) check_interrupt();
  line->assign(text);
  if (text.size() > kBlockBytes) check_interrupt();
  if (text.find('\r') != std::string_view::npos) {
    line->erase(std::remove(line->begin(), line->end(), '\r'), line->end());
  }
  bytes.take(end == std::string_view::npos ? text.size() : end + 1);
  return true;
}

}  // namespace runhooks
