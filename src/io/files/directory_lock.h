// What lives here: DirectoryLock, by which one process at a time holds something that a file stands for.
// Who may use it: every layer above io.
// What it must not know: what is held, R.
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

// The system gives the claim back when the process ends, however that happens: a killed one blocks
// nobody. A forked child does not have the claims of its parent.
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

 private:
  DirectoryLock(std::string path, long long file);
  static DirectoryLock* find(const std::string& path);
  std::string path_;
  long long file_;
  LockOwner holder_;
};

}  // namespace runhooks
