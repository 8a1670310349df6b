// DirectoryLock: ensures that one process at a time uses a directory.
#pragma once

#include <memory>
#include <string>

namespace runhooks {

struct LockOwner {
  int process = 0;  // 0: unknown
  std::string host;
  double since = 0;  // seconds since 1970
};

// A kernel lock on a file in the directory, which ends with the process even if that is killed. On
// a file system without locks, the existence of the file is the lock: a process on the same host
// detects that its owner is dead; on other hosts a user has to remove it. A forked child inherits
// no locks.
class DirectoryLock {
 public:
  // Returns NULL and sets `*owner` if the lock is taken, also if this process holds it.
  static std::unique_ptr<DirectoryLock> take(const std::string& path, LockOwner* owner);
  // Whether this process holds the lock.
  static bool holds(const std::string& path);
  // Whether any process holds the lock; sets `*owner` if so.
  static bool is_held(const std::string& path, LockOwner* owner);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  static void close_in_child();  // called after a fork

 private:
  DirectoryLock(std::string path, int file);
  static DirectoryLock* find(const std::string& path);
  std::string path_;
  int file_;
  LockOwner owner_;
};

}  // namespace runhooks
