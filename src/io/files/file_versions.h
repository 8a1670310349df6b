// FileVersions: detects whether files have changed since they were added.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/system_files.h"

namespace runhooks {

class FileVersions {
 public:
  // Records the identity, size and times of the file, or that it is missing.
  void add(const std::string& path);
  // Whether all files are still as add() has recorded them. Also FALSE if a file was written so
  // shortly before add() that a later write could leave the same modification time.
  bool unchanged() const;
  // Total size of the files.
  uint64_t num_bytes() const;

 private:
  bool may_miss_writes_ = false;
  std::vector<std::pair<std::string, FileInfo>> files_;
};

}  // namespace runhooks
