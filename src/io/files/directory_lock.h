// DirectoryLock, by which one process at a time holds something that a file stands for.
#pragma once

#include <memory>
#include <string>

namespace runhooks {

// Who holds a claim.
struct LockOwner {
  int process = 0;  // 0: not known
  std::string host;
  double since = 0;
};

// A lock of the system, which ends with the process, however that happens: a killed one blocks
// nobody. Where the file system has no locks, the file's existence is the claim: the next process of
// the same host sees that its owner is gone, and on other hosts the file has to be removed by hand.
// A forked child does not have the claims of its parent.
class DirectoryLock {
 public:
  // NULL where another process holds it, who is *holder then. Within a process a claim is not
  // taken twice: ask holds() before.
  static std::unique_ptr<DirectoryLock> take(const std::string& path, LockOwner* holder);
  // Whether this process holds it.
  static bool holds(const std::string& path);
  // Whether any does: *holder says which.
  static bool is_held(const std::string& path, LockOwner* holder);
  // Gives it back; the file goes.
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
