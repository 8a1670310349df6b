// PipeReader: interruptible reads from a pipe, a device or a terminal.
#pragma once

#include <cstddef>
#include <string>

namespace runhooks {

class PipeReader {
 public:
  // Does not wait for a writer. Throws if the path is missing or is a regular file or a folder.
  explicit PipeReader(std::string path);
  ~PipeReader();
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  // Reads between 1 and `size` bytes; returns 0 when all writers have closed the pipe.
  size_t read(void* data, size_t size);

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace runhooks
