#include "io/files/file_versions.h"

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "base/system_files.h"

namespace runhooks {

bool FileVersions::Stamp::operator==(const Stamp& other) const {
  return is_there == other.is_there && device == other.device && number == other.number &&
         size == other.size && written == other.written && changed == other.changed;
}

FileVersions::Stamp FileVersions::stamp_of(const std::string& path) {
  Stamp stamp;
  FileInfo info;
  if (!stat_path(path, &info)) return stamp;
  stamp.is_there = true;
  stamp.device = info.device;
  stamp.number = info.number;
  stamp.size = info.size;
  stamp.written = info.written;
  stamp.changed = info.changed;
  return stamp;
}

void FileVersions::add(const std::string& path) {
  const Stamp stamp = stamp_of(path);
  files_.emplace_back(path, stamp);
  // FAT has a time resolution of two seconds, HFS+ of one.
  constexpr int64_t kSecond = 1000000000;
  const bool is_coarse = stamp.is_there && stamp.written % kSecond == 0;
  const auto age = static_cast<int64_t>(now_seconds() * 1e9) - stamp.written;
  if (is_coarse && std::abs(age) < 2 * kSecond) may_hide_writes_ = true;
}

bool FileVersions::unchanged() const {
  if (may_hide_writes_) return false;
  return std::all_of(files_.begin(), files_.end(),
                     [](const auto& file) { return stamp_of(file.first) == file.second; });
}

uint64_t FileVersions::num_bytes() const {
  uint64_t bytes = 0;
  for (const auto& file : files_) bytes += file.second.size;
  return bytes;
}

}  // namespace runhooks
