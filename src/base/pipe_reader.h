// PipeReader, the bytes of a pipe, a device or a terminal, as they come.
#pragma once

#include <cstddef>
#include <string>

namespace runhooks {

// Whoever waits for them can be stopped.
class PipeReader {
 public:
  // Does not wait for who writes to a pipe. Throws where something else stands there, or nothing.
  explicit PipeReader(std::string path);
  ~PipeReader();
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  // At most `size`, at least one; 0 once whoever writes has left.
  size_t read(void* data, size_t size);

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace runhooks
