// CachedCheckpoint: the newest checkpoint of a directory, valid until one of its files changes.
#pragma once

#include <string>
#include <vector>

#include "io/files/file_versions.h"

namespace runhooks {

class CachedCheckpoint {
 public:
  // Call before reading the checkpoint and the files `besides` of the directory; later writes
  // invalidate the entry. FALSE, and no entry, if the checkpoint is not the newest or its state
  // file has problems.
  bool note(const std::string& folder,
            const std::string& checkpoint,
            const std::vector<std::string>& besides);
  // The cached checkpoint, or "" if there is no valid entry for `folder`.
  const std::string& in(const std::string& folder) const;
  bool is_set() const { return !checkpoint_.empty(); }
  uint64_t num_bytes() const { return stamps_.num_bytes(); }

 private:
  std::string folder_, checkpoint_;
  FileVersions stamps_;
};

}  // namespace runhooks
