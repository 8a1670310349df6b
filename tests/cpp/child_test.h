// ChildProcess: a forked process of a test. Also helpers for links and pipes.
#pragma once

#include <functional>
#include <string>

#include "test.h"

namespace runhooks_test {

// Runs `body` in a forked process, which exits with its result. The test counts as not run if the
// system cannot fork.
class ChildProcess {
 public:
  // A function that the child calls to send bytes, which the parent reads with receive().
  using Send = std::function<void(const std::string&)>;

  explicit ChildProcess(const std::function<int(const Send&)>& body);
  explicit ChildProcess(const std::function<int()>& body);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int id() const { return id_; }
  // Reads `size` bytes from the child; fewer if the child closes the pipe.
  std::string receive(size_t size);
  void kill();
  // Waits for the child and returns its exit status, or kKilled.
  int wait();

  static constexpr int kKilled = -1;

 private:
  int id_ = 0, read_end_ = -1;
};

// Ends this process without cleanup, like a kill signal.
[[noreturn]] void kill_this_process();

// Create a symbolic link or a named pipe. The test counts as not run if the system has none.
void make_link(const std::string& target, const std::string& path);
void make_pipe(const std::string& path);

}  // namespace runhooks_test
