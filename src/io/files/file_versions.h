// FileVersions, by which one sees later whether files are still those that they were.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace runhooks {

class FileVersions {
 public:
  // Looks at the file as it is now; that there is none is known, too.
  void add(const std::string& path);
  // Whether all of them are as they were: none was written, replaced or removed. FALSE also where a
  // file was written so shortly before add() that the file system's clock would hide another write.
  bool unchanged() const;
  // Of all of them together.
  uint64_t num_bytes() const;

 private:
  // Times in the system's finest units. Nobody can set the one of the last change.
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
