#include "base/system_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/paths.h"
#include "base/windows.h"

#if defined(_WIN32)
#include <io.h>
#else
#include <poll.h>
#include <unistd.h>

#include "base/block_signals.h"
#endif

namespace runhooks {

#if defined(_WIN32)

namespace {

void set_errno(DWORD reason) {
  const std::error_code code(static_cast<int>(reason), std::system_category());
  errno = code.default_error_condition().category() == std::generic_category()
              ? code.default_error_condition().value()
              : EACCES;
}

HANDLE handle_of(int file) { return reinterpret_cast<HANDLE>(_get_osfhandle(file)); }

// Converts a Windows time, which counts units of 100 nanoseconds since 1601.
int64_t nanoseconds_since_1970(int64_t ticks) { return (ticks - 116444736000000000) * 100; }

FileKind kind_of_handle(HANDLE file, DWORD attributes) {
  if (attributes & FILE_ATTRIBUTE_DIRECTORY) return FileKind::kFolder;
  switch (GetFileType(file)) {
    case FILE_TYPE_DISK:
      return FileKind::kRegular;
    case FILE_TYPE_CHAR:
      return FileKind::kDevice;
    case FILE_TYPE_PIPE:
      return FileKind::kPipe;
    default:
      return FileKind::kOther;
  }
}

bool stat_handle(HANDLE file, FileInfo* info) {
  *info = FileInfo();
  BY_HANDLE_FILE_INFORMATION about = {};
  const bool is_file = GetFileInformationByHandle(file, &about);
  info->kind = kind_of_handle(file, about.dwFileAttributes);
  if (!is_file) return info->kind != FileKind::kRegular;
  info->device = about.dwVolumeSerialNumber;
  info->inode = uint64_t{about.nFileIndexHigh} << 32 | about.nFileIndexLow;
  info->size = uint64_t{about.nFileSizeHigh} << 32 | about.nFileSizeLow;
  FILE_BASIC_INFO times = {};
  if (GetFileInformationByHandleEx(file, FileBasicInfo, &times, sizeof times)) {
    info->modified = nanoseconds_since_1970(times.LastWriteTime.QuadPart);
    info->status_changed = nanoseconds_since_1970(times.ChangeTime.QuadPart);
  }
  return true;
}

struct OpenFlags {
  DWORD access, share, creation;
  int flags;
};

OpenFlags open_flags_of(Access access) {
  constexpr DWORD kAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  constexpr DWORD kLockShare = FILE_SHARE_READ | FILE_SHARE_WRITE;
  // Without FILE_WRITE_DATA, the system makes every write an append.
  constexpr DWORD kAppendAccess = FILE_GENERIC_READ | FILE_APPEND_DATA;
  constexpr DWORD kBoth = GENERIC_READ | GENERIC_WRITE;
  switch (access) {
    case Access::kRead:
      return {GENERIC_READ, kAll, OPEN_EXISTING, _O_RDONLY};
    case Access::kNew:
      return {GENERIC_WRITE, kAll, CREATE_NEW, _O_WRONLY};
    case Access::kAppend:
      return {kAppendAccess, kAll, OPEN_EXISTING, _O_APPEND};
    case Access::kAppendOrNew:
      return {kAppendAccess, kAll, OPEN_ALWAYS, _O_APPEND};
    case Access::kStream:
      return {GENERIC_WRITE, kAll, OPEN_EXISTING, _O_WRONLY};
    case Access::kNewLock:
      return {kBoth, kLockShare, CREATE_NEW, _O_RDWR};
    case Access::kLock:
      break;
  }
  return {kBoth, kLockShare, OPEN_EXISTING, _O_RDWR};
}

}  // namespace

bool stat_path(const std::string& path, FileInfo* info) {
  const HANDLE file = CreateFileW(wide_path(path).c_str(), FILE_READ_ATTRIBUTES,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                  OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    set_errno(GetLastError());
    return false;
  }
  const bool is_ok = stat_handle(file, info);
  CloseHandle(file);
  return is_ok;
}

bool stat_descriptor(int file, FileInfo* info) { return stat_handle(handle_of(file), info); }

int open_descriptor(const std::string& path, Access access) {
  const OpenFlags open_flags = open_flags_of(access);
  const HANDLE file = CreateFileW(wide_path(path).c_str(), open_flags.access, open_flags.share,
                                  nullptr, open_flags.creation, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    set_errno(GetLastError());
    return -1;
  }
  const int descriptor = _open_osfhandle(reinterpret_cast<intptr_t>(file),
                                         open_flags.flags | _O_BINARY | _O_NOINHERIT);
  if (descriptor < 0) CloseHandle(file);
  return descriptor;
}

void close_descriptor(int file) { _close(file); }

int64_t read_descriptor(int file, void* data, size_t size) {
  return _read(file, data, static_cast<unsigned>(std::min(size, size_t{1} << 20)));
}

int64_t write_descriptor(int file, const void* data, size_t size) {
  return _write(file, data, static_cast<unsigned>(std::min(size, size_t{1} << 20)));
}

bool wait_for_descriptor(int, bool, int) { return true; }

int64_t seek_to_end(int file) { return _lseeki64(file, 0, SEEK_END); }
bool truncate_descriptor(int file, int64_t size) { return _chsize_s(file, size) == 0; }
bool set_blocking(int) { return true; }
bool sync_descriptor(int file) { return _commit(file) == 0; }

std::FILE* stream_of(int file, const char* mode) { return _fdopen(file, mode); }
int descriptor_of(std::FILE* stream) { return _fileno(stream); }
bool seek_stream(std::FILE* stream, uint64_t offset) {
  return _fseeki64(stream, static_cast<int64_t>(offset), SEEK_SET) == 0;
}

std::error_code rename_path(const std::string& from, const std::string& to) {
  const std::wstring wide_from = wide_path(from), wide_to = wide_path(to);
  for (int tries = 0;; ++tries) {
    if (MoveFileExW(wide_from.c_str(), wide_to.c_str(), MOVEFILE_REPLACE_EXISTING)) return {};
    const DWORD reason = GetLastError();
    const bool is_transient = reason == ERROR_SHARING_VIOLATION || reason == ERROR_LOCK_VIOLATION ||
                              (reason == ERROR_ACCESS_DENIED && file_kind(to) == FileKind::kNone);
    if (!is_transient || tries == 50) return {static_cast<int>(reason), std::system_category()};
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

#else

namespace {

FileKind kind_of_mode(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::kRegular;
  if (S_ISDIR(mode)) return FileKind::kFolder;
  if (S_ISFIFO(mode)) return FileKind::kPipe;
  if (S_ISCHR(mode)) return FileKind::kDevice;
  return S_ISBLK(mode) ? FileKind::kBlockDevice : FileKind::kOther;
}

int64_t nanoseconds_of(const struct timespec& time) {
  return static_cast<int64_t>(time.tv_sec) * 1000000000 + time.tv_nsec;
}

FileInfo info_of(const struct stat& status) {
  FileInfo info;
  info.kind = kind_of_mode(status.st_mode);
  info.device = static_cast<uint64_t>(status.st_dev);
  info.inode = static_cast<uint64_t>(status.st_ino);
  info.size = static_cast<uint64_t>(status.st_size);
#if defined(__APPLE__)
  info.modified = nanoseconds_of(status.st_mtimespec);
  info.status_changed = nanoseconds_of(status.st_ctimespec);
#else
  info.modified = nanoseconds_of(status.st_mtim);
  info.status_changed = nanoseconds_of(status.st_ctim);
#endif
  return info;
}

#if !defined(O_CLOEXEC)
#define O_CLOEXEC 0
#endif
#if !defined(O_NOFOLLOW)
#define O_NOFOLLOW 0
#endif

int flags_of(Access access) {
  constexpr int kOpenFlags = O_NOFOLLOW | O_NONBLOCK;
  switch (access) {
    case Access::kRead:
      return O_RDONLY | O_NONBLOCK | O_NOCTTY;
    case Access::kNew:
      return O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW;
    case Access::kAppend:
      return O_APPEND | O_WRONLY | kOpenFlags;
    case Access::kAppendOrNew:
      return O_APPEND | O_CREAT | O_WRONLY | kOpenFlags;
    case Access::kStream:
      return O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY;
    case Access::kNewLock:
      return O_CREAT | O_EXCL | O_RDWR | kOpenFlags;
    case Access::kLock:
      break;
  }
  return O_RDWR | kOpenFlags;
}

}  // namespace

bool stat_path(const std::string& path, FileInfo* info) {
  struct stat status;
  *info = FileInfo();
  if (::stat(system_path(path).c_str(), &status) != 0) return false;
  *info = info_of(status);
  return true;
}

bool stat_descriptor(int file, FileInfo* info) {
  struct stat status;
  *info = FileInfo();
  if (::fstat(file, &status) != 0) return false;
  *info = info_of(status);
  return true;
}

int open_descriptor(const std::string& path, Access access) {
  return ::open(system_path(path).c_str(), flags_of(access) | O_CLOEXEC, 0666);
}

void close_descriptor(int file) { ::close(file); }

int64_t read_descriptor(int file, void* data, size_t size) { return ::read(file, data, size); }

int64_t write_descriptor(int file, const void* data, size_t size) {
  const IgnoreSigpipeScope quiet;
  return ::write(file, data, size);
}

bool wait_for_descriptor(int file, bool to_write, int milliseconds) {
  struct pollfd ready = {file, static_cast<short>(to_write ? POLLOUT : POLLIN), 0};
  return ::poll(&ready, 1, milliseconds) > 0;
}

int64_t seek_to_end(int file) { return ::lseek(file, 0, SEEK_END); }
bool truncate_descriptor(int file, int64_t size) { return ::ftruncate(file, size) == 0; }
bool set_blocking(int file) {
  return ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK) == 0;
}

bool sync_descriptor(int file) {
#if defined(F_FULLFSYNC)
  // On macOS fsync() leaves data in the disk's cache, where a power failure loses them. Network
  // file systems lack F_FULLFSYNC.
  if (::fcntl(file, F_FULLFSYNC) == 0) return true;
#endif
  // Some file systems lack fsync() and return EINVAL.
  return ::fsync(file) == 0 || errno == EINVAL;
}

std::FILE* stream_of(int file, const char* mode) { return ::fdopen(file, mode); }
int descriptor_of(std::FILE* stream) { return ::fileno(stream); }
bool seek_stream(std::FILE* stream, uint64_t offset) {
  return ::fseeko(stream, static_cast<off_t>(offset), SEEK_SET) == 0;
}

std::error_code rename_path(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::rename(fs_path(from), fs_path(to), error);
  return error;
}

#endif

}  // namespace runhooks
