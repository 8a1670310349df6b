#include "base/pipe_reader.h"

#include <cerrno>

#include "base/interrupt.h"
#include "base/system_files.h"

namespace runhooks {

namespace {

void check_is_stream(const std::string& path) {
  const FileKind kind = file_kind(path);
  if (kind == FileKind::kPipe || kind == FileKind::kDevice) return;
  if (kind == FileKind::kNone) throw_system("Cannot read", path, ENOENT);
  fail(Code::kFailedPrecondition, "Cannot read '", path, "': it is ", file_kind_description(kind),
       ", not a pipe or a device.");
}

}  // namespace

PipeReader::PipeReader(std::string path) : path_(std::move(path)) {
  check_is_stream(path_);
  descriptor_ = open_descriptor(path_, Access::kRead);
  if (descriptor_ < 0) throw_system("Cannot read", path_, errno);
}

PipeReader::~PipeReader() { close_descriptor(descriptor_); }

// Polls, so that waiting for a writer or for data can be interrupted.
size_t PipeReader::read(void* data, size_t size) {
  constexpr int kPollMs = 20;
  for (;;) {
    check_interrupt();
    if (!wait_for_descriptor(descriptor_, /*to_write=*/false, kPollMs)) continue;
    const int64_t num_read = read_descriptor(descriptor_, data, size);
    if (num_read >= 0) return static_cast<size_t>(num_read);
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      throw_system("Cannot read", path_, errno);
    }
  }
}

}  // namespace runhooks
