// FileAccessPolicy: which files the operations of a session may open. The default allows all files.
#pragma once

#include <string>

namespace runhooks {

class FileAccessPolicy {
 public:
  FileAccessPolicy() = default;
  // Allows only reading, and only files below `folder`.
  static FileAccessPolicy below_folder(const std::string& folder);

  // Returns the path to open. If the policy is restricted to a folder, links are resolved, and a
  // path outside the folder throws kPermissionDenied.
  std::string readable(const std::string& path) const;
  // Throws kPermissionDenied if the policy is restricted to a folder, which is read-only.
  void check_writable(const std::string& path) const;

 private:
  std::string folder_;
};

}  // namespace runhooks
