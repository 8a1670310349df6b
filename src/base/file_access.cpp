#include "base/file_access.h"

#include <algorithm>
#include <filesystem>

#include "base/paths.h"
#include "base/status.h"

namespace runhooks {

namespace fs = std::filesystem;

namespace {

// Without links; what is not there yet stays as it is written.
fs::path resolved(const std::string& path) {
  std::error_code error;
  const fs::path full = fs::absolute(fs_path(path.empty() ? "." : path), error);
  const fs::path real = fs::weakly_canonical(full, error);
  if (error) fail(Code::kPermissionDenied, "Where '", path, "' leads cannot be found out.");
  return (real / "").parent_path();  // "a/" is "a"
}

}  // namespace

FileAccessPolicy FileAccessPolicy::below(const std::string& folder) {
  FileAccessPolicy rights;
  rights.folder_ = path_text(resolved(folder));
  return rights;
}

std::string FileAccessPolicy::readable(const std::string& path) const {
  if (folder_.empty()) return path;
  const fs::path real = resolved(path), folder = fs_path(folder_);
  const auto ends = std::mismatch(folder.begin(), folder.end(), real.begin(), real.end());
  if (ends.first == folder.end()) return path_text(real);
  throw Error(Code::kPermissionDenied,
              str_cat("'", path, "' is not below '", folder_,
                      "': a model that was loaded reads the files of its own folder only."),
              {"Links are followed to where they lead."});
}

void FileAccessPolicy::check_writable(const std::string& path) const {
  if (folder_.empty()) return;
  fail(Code::kPermissionDenied, "'", path, "' is not written: the model of '", folder_,
       "' was loaded, and what is loaded writes and removes no files.");
}

}  // namespace runhooks
