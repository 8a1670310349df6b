#include "io/files/buffered_bytes.h"

#include <algorithm>

#include "base/interrupt.h"

namespace runhooks {

namespace {
constexpr size_t kBlock = 128 * 1024, kMaxRead = size_t{64} << 20;
// Upper limit on a record. A longer one usually means a missing closing quote.
constexpr size_t kLargest = size_t{1} << 28;
constexpr std::string_view kMark = "\xef\xbb\xbf", kGzip = "\x1f\x8b";
constexpr std::string_view kUtf16[] = {"\xff\xfe", "\xfe\xff"};  // byte order marks
}  // namespace

BufferedBytes::BufferedBytes(const ByteSource& source, Compression compression)
    : stream_(source, compression), compression_(compression) {}

bool BufferedBytes::read_more() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const size_t size = buffer_.size();
  if (size > kLargest) {
    fail(Code::kDataLoss, "The record of '", path(), "' at byte ", offset(), " is longer than ",
         static_cast<unsigned long>(kLargest), " bytes.");
  }
  // resize() zero-fills, so a small file must not cost a large block.
  uint64_t wanted = std::min<uint64_t>(std::clamp(size, kBlock, kMaxRead), stream_.remaining());
  buffer_.resize(size + static_cast<size_t>(wanted));
  char* behind = buffer_.data() + size;
  // Callers rescan the view after each call, so a long record must grow by large reads. Only the
  // first block of a stream returns early.
  const bool takes_what_has_come = !stream_.can_seek() && size < kBlock;
  const size_t got = takes_what_has_come ? stream_.read_some(behind, static_cast<size_t>(wanted))
                                         : stream_.read(behind, static_cast<size_t>(wanted));
  buffer_.resize(size + got);
  return got > 0;
}

void BufferedBytes::seek(uint64_t offset) {
  buffer_.clear();
  begin_ = 0;
  stream_.seek(offset);
}

void BufferedBytes::begin_text() {
  while (view().size() < kMark.size() && read_more()) {
  }
  if (compression_ == Compression::kNone && view().substr(0, kGzip.size()) == kGzip) {
    throw Error(Code::kInvalidArgument, str_cat("'", path(), "' is compressed."),
                {"Use `compression_type = \"GZIP\"`."});
  }
  for (const std::string_view mark : kUtf16) {
    if (view().substr(0, mark.size()) != mark) continue;
    throw Error(Code::kInvalidArgument, str_cat("'", path(), "' is UTF-16."),
                {"Convert it first: `lines <- readLines(file(path, encoding = \"UTF-16\"))`, then "
                 "`writeLines(lines, new_path, useBytes = TRUE)`."});
  }
  if (view().substr(0, kMark.size()) == kMark) take(kMark.size());
}

bool next_line(BufferedBytes& bytes, std::string* line) {
  size_t end = bytes.view().find('\n');
  for (size_t seen = 0; end == std::string_view::npos; end = bytes.view().find('\n', seen)) {
    seen = bytes.view().size();
    if (!bytes.read_more()) break;
  }
  const std::string_view text = bytes.view().substr(0, end);
  if (end == std::string_view::npos && text.empty()) return false;
  if (text.size() > kBlock) check_interrupt();
  line->assign(text);
  if (text.size() > kBlock) check_interrupt();
  if (text.find('\r') != std::string_view::npos) {
    line->erase(std::remove(line->begin(), line->end(), '\r'), line->end());
  }
  bytes.take(end == std::string_view::npos ? text.size() : end + 1);
  return true;
}

}  // namespace runhooks
