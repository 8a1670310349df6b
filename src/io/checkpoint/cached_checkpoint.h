// CachedCheckpoint: the newest checkpoint of a directory, valid until one of its files changes.
#pragma once

#include <string>
#include <vector>

#include "io/files/file_versions.h"

namespace runhooks {

class CachedCheckpoint {
 public:
  // Stores the checkpoint in the cache. Call it before reading the checkpoint and `other_files` of
  // the directory, so that later writes invalidate the cache. Returns FALSE and clears the cache if
  // the checkpoint is not the newest or the `checkpoint` file has problems.
  bool note(const std::string& folder,
            const std::string& checkpoint,
            const std::vector<std::string>& other_files);
  // Returns the cached checkpoint of `folder`, or "" if none is cached or a file has changed.
  const std::string& in(const std::string& folder) const;
  bool is_set() const { return !checkpoint_.empty(); }
  uint64_t num_bytes() const { return versions_.num_bytes(); }

 private:
  std::string folder_, checkpoint_;
  FileVersions versions_;
};

}  // namespace runhooks
