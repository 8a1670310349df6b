// Portable wrappers for system calls on files.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>

#include "base/open_file.h"

namespace runhooks {

// Times are nanoseconds since 1970, at the resolution of the file system. Unlike `modified`,
// programs cannot set `status_changed`.
struct FileInfo {
  FileKind kind = FileKind::kNone;
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified = 0, status_changed = 0;

  bool operator==(const FileInfo& other) const {
    return kind == other.kind && device == other.device && inode == other.inode &&
           size == other.size && modified == other.modified &&
           status_changed == other.status_changed;
  }
};
// Follow links. On failure they return FALSE and set errno.
bool stat_path(const std::string& path, FileInfo* info);
bool stat_descriptor(int file, FileInfo* info);

// Opening never blocks on a pipe, and child processes do not inherit the descriptor. Writing never
// follows a symbolic link, except for kStream. On Windows, other processes may rename and remove an
// open file, except for kNewLock and kLock.
enum class Access {
  kRead,
  kNew,     // write; EEXIST if the file exists
  kAppend,  // append; ENOENT if the file is missing
  kAppendOrNew,
  kStream,   // write to a pipe or device; ENXIO if no process reads the pipe
  kNewLock,  // read and write; EEXIST if the file exists
  kLock,     // read and write; ENOENT if the file is missing
};
int open_descriptor(const std::string& path, Access access);
void close_descriptor(int file);

// Returns the number of bytes read, 0 at the end, or -1 with errno. For an empty pipe, errno is
// EAGAIN; on Windows the call blocks instead.
int64_t read_descriptor(int file, void* data, size_t size);
// Returns the number of bytes written, or -1 with errno. If the reader has closed a pipe, errno is
// EPIPE, and no signal is raised.
int64_t write_descriptor(int file, const void* data, size_t size);
// Whether bytes can be read or written within the given time; always TRUE on Windows.
bool wait_for_descriptor(int file, bool to_write, int milliseconds);
int64_t seek_to_end(int file);
bool truncate_descriptor(int file, int64_t size);
// Makes reads and writes wait, for a descriptor that was opened without blocking.
bool set_blocking(int file);
// Flushes to the disk, including the disk's cache where the system can.
bool sync_descriptor(int file);

// Creates a stream that owns the descriptor; returns NULL and sets errno on failure.
std::FILE* stream_of(int file, const char* mode);
int descriptor_of(std::FILE* stream);
bool seek_stream(std::FILE* stream, uint64_t offset);

// Replaces the file at `to`; Windows denies permission if that file is open. On Windows it retries
// for a second if another process locks a file, because virus scanners and indexers hold new files
// briefly.
std::error_code rename_path(const std::string& from, const std::string& to);

}  // namespace runhooks
