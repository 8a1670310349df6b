#include "io/files/directory_lock.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/machine.h"
#include "base/platform.h"
#include "base/system_files.h"
#include "base/windows.h"
#include "io/files/atomic_file.h"
#include "io/files/plain_fields.h"
#include "io/files/rename_exchange.h"
#include "io/files/stale_files.h"

#if defined(_WIN32)
#include <io.h>
#else
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#endif

namespace runhooks {

namespace {

constexpr int kNoDescriptor = -1;

// Locks of this process. A forked child also has the entries of its parent.
std::vector<DirectoryLock*>& locks_of_process() {
  static auto* all = new std::vector<DirectoryLock*>;
  return *all;
}

std::string owner_text(const LockOwner& owner) {
  return write_plain_data(PlainFields()
                              .add("process", static_cast<double>(owner.process))
                              .add("host", owner.host)
                              .add("since", owner.since)
                              .take());
}

LockOwner read_owner(const std::string& path) {
  LockOwner owner;
  try {
    const PlainData record = read_plain_data(read_whole_file(path), path);
    owner.process = static_cast<int>(number_field(record, "process", 0));
    owner.host = text_field(record, "host", "");
    owner.since = number_field(record, "since", 0);
  } catch (const Error&) {  // the file is incomplete or gone
  }
  return owner;
}

LockOwner owner_of_this_process() {
  LockOwner owner;
  owner.process = process_id();
  owner.host = host_name();
  owner.since = now_seconds();
  return owner;
}

enum class LockResult { kAcquired, kHeld, kUnsupported };

#if defined(_WIN32)

// Returns the offset of the byte to lock. It is far beyond the text of the file, because a Windows
// lock prevents other processes from reading the locked bytes.
OVERLAPPED locked_byte() {
  OVERLAPPED offset = {};
  offset.OffsetHigh = 1u << 30;
  return offset;
}

LockResult lock_file(int file, bool is_probe) {
  if (!feature_enabled(SystemFeature::kFileLocks)) return LockResult::kUnsupported;
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(file));
  const DWORD kind = LOCKFILE_FAIL_IMMEDIATELY | (is_probe ? 0 : LOCKFILE_EXCLUSIVE_LOCK);
  OVERLAPPED offset = locked_byte();
  if (LockFileEx(handle, kind, 0, 1, 0, &offset)) return LockResult::kAcquired;
  const DWORD reason = GetLastError();
  const bool is_held = reason == ERROR_LOCK_VIOLATION || reason == ERROR_IO_PENDING;
  return is_held ? LockResult::kHeld : LockResult::kUnsupported;
}

#else

LockResult result_of(int result) {
  if (result == 0) return LockResult::kAcquired;
  return errno == EACCES || errno == EAGAIN ? LockResult::kHeld : LockResult::kUnsupported;
}

// Uses a lock of the open file description. A process-wide lock (F_SETLK) ends as soon as any code
// closes any descriptor of the file, and does not conflict within the process.
LockResult lock_description([[maybe_unused]] int file, [[maybe_unused]] bool is_probe) {
#if defined(F_OFD_SETLK)
  if (!feature_enabled(SystemFeature::kOfdLocks)) return LockResult::kUnsupported;
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (!is_probe) return result_of(fcntl(file, F_OFD_SETLK, &lock));
  if (fcntl(file, F_OFD_GETLK, &lock) != 0) return LockResult::kUnsupported;
  return lock.l_type == F_UNLCK ? LockResult::kAcquired : LockResult::kHeld;
#else
  return LockResult::kUnsupported;
#endif
}

// Tries to lock the open file. With `is_probe`, only tests whether it is locked. flock() tests by
// taking a shared lock, which ends when the caller closes the file.
LockResult lock_file(int file, bool is_probe) {
  if (!feature_enabled(SystemFeature::kFileLocks)) return LockResult::kUnsupported;
  const LockResult result = lock_description(file, is_probe);
  if (result != LockResult::kUnsupported) return result;
  return result_of(flock(file, (is_probe ? LOCK_SH : LOCK_EX) | LOCK_NB));
}

#endif

// A forked child shares the open file descriptions of its parent, so it must close its copies.
// Otherwise the locks would last until the last child exits.
void register_fork_handling() {
#if !defined(_WIN32)
  static const int registered = pthread_atfork(nullptr, nullptr, DirectoryLock::close_in_child);
  (void)registered;
#endif
}

// Whether the owner died without removing the lock file. FALSE for owners on other hosts.
bool is_dead(const LockOwner& owner) {
  if (owner.process <= 0 || owner.host != host_name()) return false;
  // Process ids are reused, in containers almost always. This process holds no lock on the file, so
  // an equal id is from an earlier process.
  return owner.process == process_id() || !process_exists(owner.process);
}

bool is_same_owner(const LockOwner& a, const LockOwner& b) {
  return a.process == b.process && a.host == b.host && a.since == b.since;
}

// Processes may race to remove a stale lock file, so each first renames it. If the renamed file
// turns out to be the file of a newer lock, the process restores it.
bool remove_lock_file_of(const LockOwner& dead_owner, const std::string& path) {
  const std::string aside = temporary_path(path);
  if (!renames(path, aside)) return true;
  if (!is_same_owner(read_owner(aside), dead_owner)) return !renames(aside, path);
  remove_file(aside);
  return true;
}

// Whether `path` still names the open file. The previous owner removes the file when it releases
// the lock. So this process may have locked a file that no longer has a name.
bool is_same_file(int file, const std::string& path) {
  FileInfo opened, current;
  return stat_descriptor(file, &opened) && stat_path(path, &current) &&
         opened.inode == current.inode && opened.device == current.device;
}

// Returns a descriptor that holds the lock, or kNoDescriptor and `*owner` if another process holds
// it.
int acquire_lock_file(const std::string& path, LockOwner* owner) {
  const std::string parent = parent_folder(path), folder = parent.empty() ? "." : parent;
  for (int tries = 0;; ++tries) {
    check_is_file(path);
    int file = open_descriptor(path, Access::kNewLock);
    const bool is_new = file >= 0;
    if (!is_new && errno == EEXIST) file = open_descriptor(path, Access::kLock);
    if (file < 0 && errno == ENOENT && is_directory(folder)) continue;
    if (file < 0) throw_system("Cannot write", path, errno);
    const LockResult result = lock_file(file, /*is_probe=*/false);
    if (result == LockResult::kAcquired && is_same_file(file, path)) return file;
    if (result == LockResult::kUnsupported && is_new) return file;
    close_descriptor(file);
    if (result == LockResult::kAcquired) continue;
    if (result == LockResult::kHeld && tries < 3) {  // another process may only be testing the lock
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    *owner = read_owner(path);
    const bool is_stale = result == LockResult::kUnsupported && is_dead(*owner);
    if (!is_stale || !remove_lock_file_of(*owner, path)) return kNoDescriptor;
  }
}

void write_owner(int file, const std::string& record) {
  if (!truncate_descriptor(file, 0)) return;  // an error is ignored: the text only informs users
  write_descriptor(file, record.data(), record.size());
}

}  // namespace

DirectoryLock::DirectoryLock(std::string path, int file)
    : path_(std::move(path)), file_(file), owner_(owner_of_this_process()) {
  write_owner(file_, owner_text(owner_));
  register_fork_handling();
  locks_of_process().push_back(this);
}

DirectoryLock::~DirectoryLock() {
  auto& all = locks_of_process();
  all.erase(std::remove(all.begin(), all.end(), this), all.end());
  const bool is_own = owner_.process == process_id();
#if defined(_WIN32)
  close_descriptor(file_);
  file_ = kNoDescriptor;  // Windows cannot remove an open file
#endif
  // Removes the file before the lock ends, so that no process finds an unlocked file.
  std::error_code ignored;
  if (is_own) std::filesystem::remove(fs_path(path_), ignored);
  if (file_ != kNoDescriptor) close_descriptor(file_);
}

void DirectoryLock::close_in_child() {
  for (DirectoryLock* lock : locks_of_process()) {
    if (lock->file_ != kNoDescriptor) close_descriptor(lock->file_);
    lock->file_ = kNoDescriptor;
  }
}

DirectoryLock* DirectoryLock::find(const std::string& path) {
  for (DirectoryLock* lock : locks_of_process()) {
    const bool is_own = lock->owner_.process == process_id();
    if (is_own && is_same_path(lock->path_, path)) return lock;
  }
  return nullptr;
}

bool DirectoryLock::holds(const std::string& path) { return find(path) != nullptr; }

std::unique_ptr<DirectoryLock> DirectoryLock::take(const std::string& path, LockOwner* owner) {
  if (const DirectoryLock* own_lock = find(path)) {
    *owner = own_lock->owner_;
    return nullptr;
  }
  const int file = acquire_lock_file(path, owner);
  return std::unique_ptr<DirectoryLock>(file == kNoDescriptor ? nullptr
                                                              : new DirectoryLock(path, file));
}

bool DirectoryLock::is_held(const std::string& path, LockOwner* owner) {
  if (const DirectoryLock* own_lock = find(path)) {
    *owner = own_lock->owner_;
    return true;
  }
  if (file_kind(path) != FileKind::kRegular) return false;
  const int file = open_descriptor(path, Access::kRead);
  if (file < 0) return false;
  const LockResult result = lock_file(file, /*is_probe=*/true);
  close_descriptor(file);
  if (result == LockResult::kAcquired) return false;
  const LockOwner current_owner = read_owner(path);
  if (result == LockResult::kUnsupported && is_dead(current_owner)) return false;
  *owner = current_owner;
  return true;
}

}  // namespace runhooks
