#include "io/files/file_versions.h"

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"

namespace runhooks {

namespace {

FileInfo info_or_none(const std::string& path) {
  FileInfo info;
  return stat_path(path, &info) ? info : FileInfo();
}

}  // namespace

void FileVersions::add(const std::string& path) {
  const FileInfo info = info_or_none(path);
  files_.emplace_back(path, info);
  // Some file systems store coarse times: FAT in units of two seconds, HFS+ of one. So a file that
  // was just modified may change again without a change of its time.
  constexpr int64_t kSecond = 1000000000;
  const bool is_coarse = info.kind != FileKind::kNone && info.modified % kSecond == 0;
  const auto age = static_cast<int64_t>(now_seconds() * 1e9) - info.modified;
  if (is_coarse && std::abs(age) < 2 * kSecond) may_miss_writes_ = true;
}

bool FileVersions::unchanged() const {
  if (may_miss_writes_) return false;
  return std::all_of(files_.begin(), files_.end(),
                     [](const auto& file) { return info_or_none(file.first) == file.second; });
}

uint64_t FileVersions::num_bytes() const {
  uint64_t bytes = 0;
  for (const auto& file : files_) bytes += file.second.size;
  return bytes;
}

}  // namespace runhooks
