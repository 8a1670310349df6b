// DirectoryLock: ensures that one process at a time uses a directory.
#pragma once

#include <memory>
#include <string>

namespace runhooks {

struct LockOwner {
  int process = 0;  // 0: unknown
  std::string host;
  double since = 0;
};

// A kernel lock on a file, which ends with the process even if it is killed. On a file system
// without locks the existence of the file is the claim. A process on the same host detects a dead
// owner; on other hosts the file must be removed by hand. A forked child does not inherit claims.
class DirectoryLock {
 public:
  // Returns NULL and sets `*holder` if the lock is taken, also if this process holds it.
  static std::unique_ptr<DirectoryLock> take(const std::string& path, LockOwner* holder);
  static bool holds(const std::string& path);
  // Whether any process holds the lock; sets `*holder` if so.
  static bool is_held(const std::string& path, LockOwner* holder);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  const LockOwner& holder() const { return holder_; }
  static void close_in_child();  // called after a fork

 private:
  DirectoryLock(std::string path, int file);
  static DirectoryLock* find(const std::string& path);
  std::string path_;
  int file_;
  LockOwner holder_;
};

}  // namespace runhooks
