// FileAccessPolicy, which files the operations of a session may open.
#pragma once

#include <string>

namespace runhooks {

class FileAccessPolicy {
 public:
  // All files.
  FileAccessPolicy() = default;
  // Those below a folder, to read.
  static FileAccessPolicy below(const std::string& folder);

  // The file to open for this path: the path itself, or where it leads when its links are followed.
  // Throws kPermissionDenied where that is not below the folder.
  std::string readable(const std::string& path) const;
  // Throws kPermissionDenied where the path may not be written, or removed.
  void check_writable(const std::string& path) const;

 private:
  std::string folder_;  // "": no limit
};

}  // namespace runhooks
