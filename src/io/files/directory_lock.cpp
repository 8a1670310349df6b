#include "io/files/directory_lock.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "io/files/atomic_file.h"
#include "io/files/plain_fields.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace runhooks {

namespace {

// Of this process, and of its parent where it was forked. The system lets a lock go as soon as any
// descriptor of the file is closed: nobody opens it but this class, and not while it is held here.
std::vector<DirectoryLock*>& claims() {
  static auto* all = new std::vector<DirectoryLock*>;
  return *all;
}

std::string words_of(const LockOwner& holder) {
  return write_plain_data(PlainFields()
                              .add("process", static_cast<double>(holder.process))
                              .add("host", holder.host)
                              .add("since", holder.since)
                              .take());
}

// What anybody may have written there.
LockOwner holder_in(const std::string& bytes, const std::string& path) {
  LockOwner holder;
  try {
    const PlainData words = read_plain_data(bytes, path);
    holder.process = static_cast<int>(number_field(words, "process", 0));
    holder.host = text_field(words, "host", "");
    holder.since = number_field(words, "since", 0);
  } catch (const Error&) {  // it is being written
  }
  return holder;
}

#if defined(_WIN32)

constexpr long long kNone = -1;

// Others may read who holds it, and not open it to write.
long long lock_file(const std::string& path, bool* is_held) {
  const HANDLE file = CreateFileA(path.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ,
                                  nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  *is_held = file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_SHARING_VIOLATION;
  if (file != INVALID_HANDLE_VALUE) return reinterpret_cast<long long>(file);
  if (!*is_held) throw_system("Cannot write", path, EACCES);
  return kNone;
}

void write_words(long long file, const std::string& words) {
  const HANDLE handle = reinterpret_cast<HANDLE>(file);
  SetFilePointer(handle, 0, nullptr, FILE_BEGIN);
  DWORD written = 0;
  WriteFile(handle, words.data(), static_cast<DWORD>(words.size()), &written, nullptr);
  SetEndOfFile(handle);
}

void close_claim(long long file) { CloseHandle(reinterpret_cast<HANDLE>(file)); }
void unlock_file(long long file, const std::string& path) {
  close_claim(file);
  DeleteFileA(path.c_str());
}

#else

constexpr long long kNone = -1;

struct flock whole_file(short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

// Whether the path still leads to the file: who has given a claim back has removed it.
bool is_still(int file, const std::string& path) {
  struct stat opened, there;
  return fstat(file, &opened) == 0 && stat(path.c_str(), &there) == 0 &&
         opened.st_ino == there.st_ino && opened.st_dev == there.st_dev;
}

long long lock_file(const std::string& path, bool* is_held) {
  *is_held = false;
  for (;;) {
    check_is_file(path);
    const int file =
        open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (file < 0) throw_system("Cannot write", path, errno);
    struct flock lock = whole_file(F_WRLCK);
    if (fcntl(file, F_SETLK, &lock) == 0) {
      if (is_still(file, path)) return file;
      close(file);
      continue;
    }
    const int reason = errno;
    *is_held = reason == EACCES || reason == EAGAIN;
    if (*is_held) {
      close(file);
      return kNone;
    }
    warn("claim", str_cat("The file system of '", path,
                          "' cannot lock files: nobody watches whether another process trains "
                          "there."));
    return file;
  }
}

void write_words(long long file, const std::string& words) {
  const int descriptor = static_cast<int>(file);
  if (ftruncate(descriptor, 0) != 0) return;  // they are for others to read, and may be missing
  if (pwrite(descriptor, words.data(), words.size(), 0) < 0) return;
}

void close_claim(long long file) { close(static_cast<int>(file)); }
void unlock_file(long long file, const std::string& path) {
  unlink(path.c_str());  // before it is let go: nobody finds one that is held by nobody
  close_claim(file);
}

#endif

}  // namespace

DirectoryLock::DirectoryLock(std::string path, long long file) : path_(std::move(path)), file_(file) {
  holder_.process = process_id();
  holder_.host = host_name();
  holder_.since = now_seconds();
  write_words(file_, words_of(holder_));
  claims().push_back(this);
}

DirectoryLock::~DirectoryLock() {
  auto& all = claims();
  all.erase(std::remove(all.begin(), all.end(), this), all.end());
  if (holder_.process == process_id()) {
    unlock_file(file_, path_);
  } else {
    close_claim(file_);  // in a forked child: it is the parent's
  }
}

DirectoryLock* DirectoryLock::find(const std::string& path) {
  for (DirectoryLock* claim : claims()) {
    const bool is_own = claim->holder_.process == process_id();
    if (is_own && is_same_path(claim->path_, path)) return claim;
  }
  return nullptr;
}

bool DirectoryLock::holds(const std::string& path) { return find(path) != nullptr; }

std::unique_ptr<DirectoryLock> DirectoryLock::take(const std::string& path, LockOwner* holder) {
  if (const DirectoryLock* own = find(path)) {
    *holder = own->holder_;
    return nullptr;
  }
  bool is_held = false;
  const long long file = lock_file(path, &is_held);
  if (!is_held) return std::unique_ptr<DirectoryLock>(new DirectoryLock(path, file));
  *holder = holder_in(read_whole_file(path), path);
  return nullptr;
}

bool DirectoryLock::is_held(const std::string& path, LockOwner* holder) {
  if (const DirectoryLock* own = find(path)) {
    *holder = own->holder_;
    return true;
  }
  if (!file_exists(path)) return false;
#if defined(_WIN32)
  const std::unique_ptr<DirectoryLock> probe = take(path, holder);
  return probe == nullptr;
#else
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  struct flock lock = whole_file(F_WRLCK);
  const bool is_held = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(file);
  if (is_held) *holder = holder_in(read_whole_file(path), path);
  return is_held;
#endif
}

}  // namespace runhooks
