#include "base/file_access.h"

#include <algorithm>
#include <filesystem>

#include "base/paths.h"
#include "base/status.h"

namespace runhooks {

namespace fs = std::filesystem;

namespace {

// Returns an absolute path without links. Components that do not exist stay unchanged.
fs::path resolve_links(const std::string& path) {
  std::error_code error;
  const fs::path full = fs::absolute(fs_path(path.empty() ? "." : path), error);
  const fs::path real = fs::weakly_canonical(full, error);
  if (error) fail(Code::kPermissionDenied, "Cannot resolve the path '", path, "'.");
  return (real / "").parent_path();  // "a/" is "a"
}

}  // namespace

FileAccessPolicy FileAccessPolicy::below_folder(const std::string& folder) {
  FileAccessPolicy policy;
  policy.folder_ = path_text(resolve_links(folder));
  return policy;
}

std::string FileAccessPolicy::readable(const std::string& path) const {
  if (folder_.empty()) return path;
  const fs::path real = resolve_links(path), folder = fs_path(folder_);
  const auto ends = std::mismatch(folder.begin(), folder.end(), real.begin(), real.end());
  if (ends.first == folder.end()) return path_text(real);
  throw Error(Code::kPermissionDenied,
              str_cat("'", path, "' is outside '", folder_,
                      "'. A loaded model may read only files below its folder."),
              {"Links are resolved before the check."});
}

void FileAccessPolicy::check_writable(const std::string& path) const {
  if (folder_.empty()) return;
  fail(Code::kPermissionDenied, "'", path, "' cannot be written. The model of '", folder_,
       "' was loaded from a file, so it may not write or remove files.");
}

}  // namespace runhooks
