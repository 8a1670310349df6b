// CachedCheckpoint, a folder's newest checkpoint and whether its files are still those that they were.
#pragma once

#include <string>
#include <vector>

#include "io/files/file_versions.h"

namespace runhooks {

class CachedCheckpoint {
 public:
  // About to be read, with the files `besides` it in the folder: what is written from now on is
  // seen. FALSE, and nothing is known, where the folder does not name it as its newest, or
  // something is odd.
  bool note(const std::string& folder,
            const std::string& checkpoint,
            const std::vector<std::string>& besides);
  // "" where nobody knows.
  const std::string& in(const std::string& folder) const;
  bool is_noted() const { return !checkpoint_.empty(); }
  // Of all the files.
  uint64_t num_bytes() const { return stamps_.num_bytes(); }

 private:
  std::string folder_, checkpoint_;
  FileVersions stamps_;
};

}  // namespace runhooks
