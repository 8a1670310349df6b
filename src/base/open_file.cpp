#include "base/open_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/interrupt.h"
#include "base/system_files.h"

namespace runhooks {

namespace {

Code code_of_errno(int error_number) {
  switch (error_number) {
    case ENOENT:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kPermissionDenied;
    case EEXIST:
      return Code::kAlreadyExists;
    case ENOSPC:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
#ifdef EDQUOT
    case EDQUOT:
#endif
      return Code::kResourceExhausted;
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ENOTEMPTY:
      return Code::kFailedPrecondition;
    case EIO:
      return Code::kDataLoss;
    default:
      return Code::kUnavailable;
  }
}

void check_regular(FileKind kind, const std::string& path) {
  if (kind == FileKind::kRegular) return;
  if (kind == FileKind::kFolder) throw_system("Cannot read", path, EISDIR);
  fail(Code::kFailedPrecondition, "Cannot read '", path, "': it is ", file_kind_description(kind),
       ", not a regular file.");
}

constexpr size_t kBlockBytes = 64 * 1024;
constexpr size_t kMaxLineBytes = size_t{1} << 28;

}  // namespace

void throw_system(const char* problem, const std::string& path, int error_number) {
  fail(code_of_errno(error_number), problem, " '", path,
       "': ", std::generic_category().message(error_number), ".");
}

FileKind file_kind(const std::string& path) {
  FileInfo info;
  return stat_path(path, &info) ? info.kind : FileKind::kNone;
}

const char* file_kind_description(FileKind kind) {
  switch (kind) {
    case FileKind::kNone:
      return "missing";
    case FileKind::kRegular:
      return "a regular file";
    case FileKind::kFolder:
      return "a folder";
    case FileKind::kPipe:
      return "a pipe";
    case FileKind::kDevice:
      return "a device";
    case FileKind::kBlockDevice:
      return "a block device";
    case FileKind::kOther:
      break;
  }
  return "a special file";
}

std::FILE* open_regular_file(const std::string& path) {
  // Check the kind before opening, because opening a device may have side effects, and again
  // afterwards, because the file may have been replaced. Opening a pipe does not block.
  FileInfo info;
  if (!stat_path(path, &info)) throw_system("Cannot read", path, errno);
  check_regular(info.kind, path);
  const int file = open_descriptor(path, Access::kRead);
  if (file < 0) throw_system("Cannot read", path, errno);
  const bool is_regular =
      stat_descriptor(file, &info) && info.kind == FileKind::kRegular && set_blocking(file);
  std::FILE* stream = is_regular ? stream_of(file, "rb") : nullptr;
  if (!stream) {
    const int reason = errno;
    close_descriptor(file);
    check_regular(info.kind, path);
    throw_system("Cannot read", path, reason);
  }
  return stream;
}

bool TextFile::fill() {
  check_interrupt();
  block_.resize(kBlockBytes);
  begin_ = 0;
  end_ = std::fread(block_.data(), 1, kBlockBytes, file_);
  if (end_ == 0 && std::ferror(file_)) throw_system("Cannot read", path_, errno);
  return end_ > 0;
}

bool TextFile::next(std::string* line) {
  line->clear();
  bool has_line = false;
  while (begin_ < end_ || fill()) {
    has_line = true;
    const char* from = block_.data() + begin_;
    const auto* newline = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_));
    const char* to = newline ? newline : block_.data() + end_;
    line->append(from, to);
    begin_ = static_cast<size_t>(to - block_.data()) + (newline ? 1 : 0);
    if (newline) break;
    if (line->size() > kMaxLineBytes) {
      fail(Code::kDataLoss, "A line of '", path_, "' is longer than ",
           static_cast<unsigned long>(kMaxLineBytes), " bytes.");
    }
  }
  line->erase(std::remove(line->begin(), line->end(), '\r'), line->end());
  return has_line;
}

}  // namespace runhooks
