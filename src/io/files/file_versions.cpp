#include "io/files/file_versions.h"

#include <algorithm>
#include <filesystem>

#if !defined(_WIN32)
#include <sys/stat.h>
#endif

namespace runhooks {

bool FileVersions::Stamp::operator==(const Stamp& other) const {
  return is_there == other.is_there && device == other.device && number == other.number &&
         size == other.size && written == other.written && changed == other.changed;
}

#if defined(_WIN32)

FileVersions::Stamp FileVersions::stamp_of(const std::string& path) {
  Stamp stamp;
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return stamp;
  const auto written = std::filesystem::last_write_time(path, error);
  if (error) return stamp;
  stamp.is_there = true;
  stamp.size = size;
  stamp.written = written.time_since_epoch().count();
  return stamp;
}

#else

namespace {

int64_t nanoseconds(const struct timespec& time) {
  return static_cast<int64_t>(time.tv_sec) * 1000000000 + time.tv_nsec;
}

}  // namespace

FileVersions::Stamp FileVersions::stamp_of(const std::string& path) {
  Stamp stamp;
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return stamp;
  stamp.is_there = true;
  stamp.device = static_cast<uint64_t>(info.st_dev);
  stamp.number = static_cast<uint64_t>(info.st_ino);
  stamp.size = static_cast<uint64_t>(info.st_size);
#if defined(__APPLE__)
  stamp.written = nanoseconds(info.st_mtimespec);
  stamp.changed = nanoseconds(info.st_ctimespec);
#else
  stamp.written = nanoseconds(info.st_mtim);
  stamp.changed = nanoseconds(info.st_ctim);
#endif
  return stamp;
}

#endif

void FileVersions::add(const std::string& path) { files_.emplace_back(path, stamp_of(path)); }

bool FileVersions::unchanged() const {
  return std::all_of(files_.begin(), files_.end(),
                     [](const auto& file) { return stamp_of(file.first) == file.second; });
}

uint64_t FileVersions::num_bytes() const {
  uint64_t bytes = 0;
  for (const auto& file : files_) bytes += file.second.size;
  return bytes;
}

}  // namespace runhooks
