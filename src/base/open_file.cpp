#include "base/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/interrupt.h"

#if !defined(_WIN32)
#include <unistd.h>
#endif

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

FileKind kind_of(const struct stat& info) {
#if defined(_WIN32)
  if ((info.st_mode & _S_IFMT) == _S_IFDIR) return FileKind::kFolder;
  if ((info.st_mode & _S_IFMT) == _S_IFREG) return FileKind::kRegular;
  return (info.st_mode & _S_IFMT) == _S_IFCHR ? FileKind::kDevice : FileKind::kOther;
#else
  if (S_ISREG(info.st_mode)) return FileKind::kRegular;
  if (S_ISDIR(info.st_mode)) return FileKind::kFolder;
  if (S_ISFIFO(info.st_mode)) return FileKind::kPipe;
  if (S_ISCHR(info.st_mode)) return FileKind::kDevice;
  return S_ISBLK(info.st_mode) ? FileKind::kDisk : FileKind::kOther;
#endif
}

void check_regular(FileKind kind, const std::string& path) {
  if (kind == FileKind::kRegular) return;
  if (kind == FileKind::kFolder) throw_system("Cannot read", path, EISDIR);
  fail(Code::kFailedPrecondition, "Cannot read '", path, "': it is ", file_kind_words(kind),
       ", not a regular file.");
}

constexpr size_t kBlock = 64 * 1024;
constexpr size_t kLongestLine = size_t{1} << 28;

}  // namespace

void throw_system(const char* problem, const std::string& path, int error_number) {
  fail(code_of_errno(error_number), problem, " '", path,
       "': ", std::generic_category().message(error_number), ".");
}

FileKind file_kind(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 ? kind_of(info) : FileKind::kNone;
}

const char* file_kind_words(FileKind kind) {
  switch (kind) {
    case FileKind::kNone:
      return "not there";
    case FileKind::kRegular:
      return "a regular file";
    case FileKind::kFolder:
      return "a folder";
    case FileKind::kPipe:
      return "a pipe";
    case FileKind::kDevice:
      return "a device";
    case FileKind::kDisk:
      return "a disk";
    case FileKind::kOther:
      break;
  }
  return "a socket or the like";
}

std::FILE* open_regular_file(const std::string& path) {
  // Looked at before, since opening a device may do something, and behind, since it may be another
  // one then. Opening a pipe does not wait for who writes to it.
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) throw_system("Cannot read", path, errno);
  check_regular(kind_of(info), path);
#if defined(_WIN32)
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) throw_system("Cannot read", path, errno);
#else
  const int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) throw_system("Cannot read", path, errno);
  const bool is_regular = fstat(descriptor, &info) == 0 && kind_of(info) == FileKind::kRegular &&
                          fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) == 0;
  std::FILE* file = is_regular ? fdopen(descriptor, "rb") : nullptr;
  if (!file) {
    const int reason = errno;
    close(descriptor);
    check_regular(kind_of(info), path);
    throw_system("Cannot read", path, reason);
  }
#endif
  return file;
}

bool TextFile::fill() {
  check_interrupt();
  block_.resize(kBlock);
  begin_ = 0;
  end_ = std::fread(block_.data(), 1, kBlock, file_);
  if (end_ == 0 && std::ferror(file_)) throw_system("Cannot read", path_, errno);
  return end_ > 0;
}

bool TextFile::next(std::string* line) {
  line->clear();
  bool is_there = false;
  while (begin_ < end_ || fill()) {
    is_there = true;
    const char* from = block_.data() + begin_;
    const auto* newline = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_));
    const char* to = newline ? newline : block_.data() + end_;
    line->append(from, to);
    begin_ = static_cast<size_t>(to - block_.data()) + (newline ? 1 : 0);
    if (newline) break;
    if (line->size() > kLongestLine) {
      fail(Code::kDataLoss, "A line of '", path_, "' is longer than ",
           static_cast<unsigned long>(kLongestLine), " bytes.");
    }
  }
  line->erase(std::remove(line->begin(), line->end(), '\r'), line->end());
  return is_there;
}

}  // namespace runhooks
