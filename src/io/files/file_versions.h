// FileVersions: detects whether files have changed since they were added.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace runhooks {

class FileVersions {
 public:
  // Records the current state of the file; a missing file counts as a state.
  void add(const std::string& path);
  // Whether all files are as recorded. Also FALSE if a file was written so shortly before add()
  // that a later write could have the same time stamp.
  bool unchanged() const;
  uint64_t num_bytes() const;

 private:
  // Times in the finest unit of the system. Programs cannot set `changed`.
  struct Stamp {
    uint64_t device = 0, number = 0, size = 0;
    int64_t written = 0, changed = 0;
    bool is_there = false;
    bool operator==(const Stamp& other) const;
  };
  static Stamp stamp_of(const std::string& path);
  bool may_hide_writes_ = false;

  std::vector<std::pair<std::string, Stamp>> files_;
};

}  // namespace runhooks
