// FileAccessPolicy: which files the operations of a session may open.
#pragma once

#include <string>

namespace runhooks {

class FileAccessPolicy {
 public:
  FileAccessPolicy() = default;
  // Allows reading files below a folder.
  static FileAccessPolicy below_folder(const std::string& folder);

  // Returns the path to open: the path itself, or with a limit its resolved form. Throws
  // kPermissionDenied if it is outside the folder.
  std::string readable(const std::string& path) const;
  void check_writable(const std::string& path) const;

 private:
  std::string folder_;
};

}  // namespace runhooks
