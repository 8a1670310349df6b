#include "base/pipe_reader.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/interrupt.h"
#include "base/open_file.h"

#if defined(_WIN32)
#include <io.h>
#else
#include <poll.h>
#include <unistd.h>
#endif

namespace runhooks {

namespace {

void check_is_stream(const std::string& path) {
  const FileKind kind = file_kind(path);
  if (kind == FileKind::kPipe || kind == FileKind::kDevice) return;
  if (kind == FileKind::kNone) throw_system("Cannot read", path, ENOENT);
  fail(Code::kFailedPrecondition, "Cannot read '", path, "': it is ", file_kind_words(kind),
       ", not a pipe or a device.");
}

}  // namespace

PipeReader::PipeReader(std::string path) : path_(std::move(path)) {
  check_is_stream(path_);
#if defined(_WIN32)
  descriptor_ = _open(path_.c_str(), _O_RDONLY | _O_BINARY);
#else
  descriptor_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
#endif
  if (descriptor_ < 0) throw_system("Cannot read", path_, errno);
}

#if defined(_WIN32)
PipeReader::~PipeReader() { _close(descriptor_); }

size_t PipeReader::read(void* data, size_t size) {
  check_interrupt();
  const int got = _read(descriptor_, data, static_cast<unsigned>(std::min(size, size_t{1} << 16)));
  if (got < 0) throw_system("Cannot read", path_, errno);
  return static_cast<size_t>(got);
}
#else
PipeReader::~PipeReader() { ::close(descriptor_); }

// A pipe that nobody has opened to write yet has nothing to say; its end is when who did has gone.
size_t PipeReader::read(void* data, size_t size) {
  constexpr int kNapMs = 20;
  for (;;) {
    check_interrupt();
    pollfd wait = {descriptor_, POLLIN, 0};
    const int ready = poll(&wait, 1, kNapMs);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready < 0) throw_system("Cannot read", path_, errno);
    const ssize_t got = ::read(descriptor_, data, size);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      throw_system("Cannot read", path_, errno);
    }
  }
}
#endif

}  // namespace runhooks
