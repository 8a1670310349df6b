#include "child_test.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#if !defined(_WIN32)
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace runhooks_test {

ChildProcess::ChildProcess(const std::function<int()>& body)
    : ChildProcess([&body](const Send&) { return body(); }) {}

#if defined(_WIN32)

ChildProcess::ChildProcess(const std::function<int(const Send&)>&) {
  throw NotRun{"Windows cannot fork"};
}
ChildProcess::~ChildProcess() = default;
std::string ChildProcess::receive(size_t) { return ""; }
void ChildProcess::kill() {}
int ChildProcess::wait() { return kKilled; }
void kill_this_process() { std::abort(); }
void make_pipe(const std::string&) { throw NotRun{"Windows has no named pipes in folders"}; }

#else

ChildProcess::ChildProcess(const std::function<int(const Send&)>& body) {
  int ends[2];
  if (pipe(ends) != 0) fail_at(__FILE__, __LINE__, "no pipe");
  id_ = fork();
  if (id_ < 0) fail_at(__FILE__, __LINE__, "no fork");
  if (id_ == 0) {
    close(ends[0]);
    const Send send = [&ends](const std::string& bytes) {
      if (write(ends[1], bytes.data(), bytes.size()) < 0) _exit(100);
    };
    try {
      _exit(body(send));
    } catch (...) {
      _exit(101);
    }
  }
  close(ends[1]);
  read_end_ = ends[0];
}

ChildProcess::~ChildProcess() {
  if (id_ > 0) {  // the test did not call wait(), because a check failed before
    kill();
    wait();
  }
  close(read_end_);
}

std::string ChildProcess::receive(size_t size) {
  std::string bytes(size, '\0');
  size_t num_read = 0;
  while (num_read < size) {
    const auto count = read(read_end_, bytes.data() + num_read, size - num_read);
    if (count <= 0) break;
    num_read += static_cast<size_t>(count);
  }
  bytes.resize(num_read);
  return bytes;
}

void ChildProcess::kill() {
  if (id_ > 0) ::kill(id_, SIGKILL);
}

int ChildProcess::wait() {
  int status = 0;
  waitpid(id_, &status, 0);
  id_ = 0;
  return WIFSIGNALED(status) ? kKilled : WEXITSTATUS(status);
}

void kill_this_process() {
  ::kill(getpid(), SIGKILL);
  std::abort();
}

void make_pipe(const std::string& path) {
  if (mkfifo(path.c_str(), 0600) != 0) fail_at(__FILE__, __LINE__, "no pipe at " + path);
}

#endif

void make_link(const std::string& target, const std::string& path) {
  std::error_code error;
  std::filesystem::create_symlink(target, path, error);
  if (error == std::errc::function_not_supported) throw NotRun{"no symbolic links here"};
  if (error) fail_at(__FILE__, __LINE__, "no link at " + path + ": " + error.message());
}

}  // namespace runhooks_test
