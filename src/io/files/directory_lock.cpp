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

constexpr int kNone = -1;

// Locks of this process; after a fork, the child also has the parent's entries.
std::vector<DirectoryLock*>& claims() {
  static auto* all = new std::vector<DirectoryLock*>;
  return *all;
}

std::string owner_text(const LockOwner& holder) {
  return write_plain_data(PlainFields()
                              .add("process", static_cast<double>(holder.process))
                              .add("host", holder.host)
                              .add("since", holder.since)
                              .take());
}

LockOwner read_owner(const std::string& path) {
  LockOwner holder;
  try {
    const PlainData record = read_plain_data(read_whole_file(path), path);
    holder.process = static_cast<int>(number_field(record, "process", 0));
    holder.host = text_field(record, "host", "");
    holder.since = number_field(record, "since", 0);
  } catch (const Error&) {  // the file is incomplete or gone
  }
  return holder;
}

LockOwner this_process() {
  LockOwner holder;
  holder.process = process_id();
  holder.host = host_name();
  holder.since = now_seconds();
  return holder;
}

enum class Lock { kTaken, kHeld, kUnsupported };

#if defined(_WIN32)

// Locks a byte far beyond the text, because a Windows lock prevents others from reading it.
OVERLAPPED locked_byte() {
  OVERLAPPED place = {};
  place.OffsetHigh = 1u << 30;
  return place;
}

Lock lock_file(int file, bool is_probe) {
  if (!feature_enabled(SystemFeature::kFileLocks)) return Lock::kUnsupported;
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(file));
  const DWORD kind = LOCKFILE_FAIL_IMMEDIATELY | (is_probe ? 0 : LOCKFILE_EXCLUSIVE_LOCK);
  OVERLAPPED place = locked_byte();
  if (LockFileEx(handle, kind, 0, 1, 0, &place)) return Lock::kTaken;
  const DWORD reason = GetLastError();
  const bool is_held = reason == ERROR_LOCK_VIOLATION || reason == ERROR_IO_PENDING;
  return is_held ? Lock::kHeld : Lock::kUnsupported;
}

#else

Lock answer_of(int result) {
  if (result == 0) return Lock::kTaken;
  return errno == EACCES || errno == EAGAIN ? Lock::kHeld : Lock::kUnsupported;
}

// Uses a lock of the open file description. A process-wide lock (F_SETLK) ends as soon as any code
// closes any descriptor of the file, and does not conflict within the process.
Lock lock_description([[maybe_unused]] int file, [[maybe_unused]] bool is_probe) {
#if defined(F_OFD_SETLK)
  if (!feature_enabled(SystemFeature::kOfdLocks)) return Lock::kUnsupported;
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (!is_probe) return answer_of(fcntl(file, F_OFD_SETLK, &lock));
  if (fcntl(file, F_OFD_GETLK, &lock) != 0) return Lock::kUnsupported;
  return lock.l_type == F_UNLCK ? Lock::kTaken : Lock::kHeld;
#else
  return Lock::kUnsupported;
#endif
}

// A probe leaves no lock after its descriptor is closed.
Lock lock_file(int file, bool is_probe) {
  if (!feature_enabled(SystemFeature::kFileLocks)) return Lock::kUnsupported;
  const Lock lock = lock_description(file, is_probe);
  if (lock != Lock::kUnsupported) return lock;
  return answer_of(flock(file, (is_probe ? LOCK_SH : LOCK_EX) | LOCK_NB));
}

#endif

// A forked child shares the parent's descriptions, so it must close its copies. Otherwise the locks
// would last until the last child exits.
void close_claims_in_children() {
#if !defined(_WIN32)
  static const int registered = pthread_atfork(nullptr, nullptr, DirectoryLock::close_in_child);
  (void)registered;
#endif
}

// Whether the owner died without removing the file. FALSE for owners on other hosts.
bool is_gone(const LockOwner& holder) {
  if (holder.process <= 0 || holder.host != host_name()) return false;
  // Process ids are reused, in containers almost always, so an equal id is from an earlier run.
  return holder.process == process_id() || !process_exists(holder.process);
}

bool is_same(const LockOwner& a, const LockOwner& b) {
  return a.process == b.process && a.host == b.host && a.since == b.since;
}

// Processes may race to remove a stale claim, so each first renames the file. If the renamed file
// turns out to be a newer claim, the process restores it.
bool remove_claim_of(const LockOwner& gone, const std::string& path) {
  const std::string aside = temporary_path(path);
  if (!renames(path, aside)) return true;
  if (!is_same(read_owner(aside), gone)) return !renames(aside, path);
  remove_file(aside);
  return true;
}

// Whether `path` still names the open file; releasing a claim removes the file.
bool is_same_file(int file, const std::string& path) {
  FileInfo opened, there;
  return stat_descriptor(file, &opened) && stat_path(path, &there) &&
         opened.inode == there.inode && opened.device == there.device;
}

// Returns a descriptor that holds the claim, or kNone if another process holds it.
int claim_file(const std::string& path, LockOwner* holder) {
  const std::string parent = parent_folder(path), folder = parent.empty() ? "." : parent;
  for (int tries = 0;; ++tries) {
    check_is_file(path);
    int file = open_descriptor(path, Access::kNewLock);
    const bool is_new = file >= 0;
    if (!is_new && errno == EEXIST) file = open_descriptor(path, Access::kLock);
    if (file < 0 && errno == ENOENT && is_directory(folder)) continue;
    if (file < 0) throw_system("Cannot write", path, errno);
    const Lock lock = lock_file(file, /*is_probe=*/false);
    if (lock == Lock::kTaken && is_same_file(file, path)) return file;
    if (lock == Lock::kUnsupported && is_new) return file;
    close_descriptor(file);
    if (lock == Lock::kTaken) continue;
    if (lock == Lock::kHeld && tries < 3) {  // may be a probe of another process
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    *holder = read_owner(path);
    const bool is_left = lock == Lock::kUnsupported && is_gone(*holder);
    if (!is_left || !remove_claim_of(*holder, path)) return kNone;
  }
}

void write_owner(int file, const std::string& record) {
  if (!truncate_descriptor(file, 0)) return;  // the text is only informative
  write_descriptor(file, record.data(), record.size());
}

}  // namespace

DirectoryLock::DirectoryLock(std::string path, int file)
    : path_(std::move(path)), file_(file), holder_(this_process()) {
  write_owner(file_, owner_text(holder_));
  close_claims_in_children();
  claims().push_back(this);
}

DirectoryLock::~DirectoryLock() {
  auto& all = claims();
  all.erase(std::remove(all.begin(), all.end(), this), all.end());
  const bool is_own = holder_.process == process_id();
#if defined(_WIN32)
  close_descriptor(file_);
  file_ = kNone;  // Windows cannot remove an open file
#endif
  // Removes the file before the lock ends, so that no process finds an unlocked file.
  std::error_code ignored;
  if (is_own) std::filesystem::remove(fs_path(path_), ignored);
  if (file_ != kNone) close_descriptor(file_);
}

void DirectoryLock::close_in_child() {
  for (DirectoryLock* claim : claims()) {
    if (claim->file_ != kNone) close_descriptor(claim->file_);
    claim->file_ = kNone;
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
  const int file = claim_file(path, holder);
  return std::unique_ptr<DirectoryLock>(file == kNone ? nullptr : new DirectoryLock(path, file));
}

bool DirectoryLock::is_held(const std::string& path, LockOwner* holder) {
  if (const DirectoryLock* own = find(path)) {
    *holder = own->holder_;
    return true;
  }
  if (file_kind(path) != FileKind::kRegular) return false;
  const int file = open_descriptor(path, Access::kRead);
  if (file < 0) return false;
  const Lock lock = lock_file(file, /*is_probe=*/true);
  close_descriptor(file);
  if (lock == Lock::kTaken) return false;
  const LockOwner found = read_owner(path);
  if (lock == Lock::kUnsupported && is_gone(found)) return false;
  *holder = found;
  return true;
}

}  // namespace runhooks
