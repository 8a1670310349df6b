// ChildProcess, a forked process of a test; links and pipes for tests.
#pragma once

#include <functional>
#include <string>

#include "test.h"

namespace runhooks_test {

// Runs `body` in a forked process, which exits with its result. Where processes cannot be forked
// the test counts as not run.
class ChildProcess {
 public:
  // Sends a few bytes to the parent's hear().
  using Say = std::function<void(const std::string&)>;

  explicit ChildProcess(const std::function<int(const Say&)>& body);
  explicit ChildProcess(const std::function<int()>& body);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int id() const { return id_; }
  // The next `size` bytes that the child says; fewer where it says no more.
  std::string hear(size_t size);
  void kill();
  // Waits for its end: its exit status, or kKilled.
  int wait();

  static constexpr int kKilled = -1;

 private:
  int id_ = 0, hears_ = -1;
};

// Ends this process as a kill from outside does: nothing is cleaned up.
[[noreturn]] void kill_this_process();

// A symbolic link, a named pipe; the test counts as not run where there are none.
void make_link(const std::string& target, const std::string& path);
void make_pipe(const std::string& path);

}  // namespace runhooks_test
