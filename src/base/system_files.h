// The system's calls on files under one name: look at, open, write, flush to the disk, rename.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>

#include "base/open_file.h"

namespace runhooks {

// Times are nanoseconds since 1970, as fine as the file system has them. `changed` is the one that
// no program can set.
struct FileInfo {
  FileKind kind = FileKind::kNone;
  uint64_t device = 0, number = 0, size = 0;
  int64_t written = 0, changed = 0;
};
// Links are followed. FALSE, and errno, where the system cannot tell.
bool look_at_path(const std::string& path, FileInfo* info);
bool look_at_descriptor(int file, FileInfo* info);

// Opening never waits for the other end of a pipe, and a child process does not get the descriptor.
// A file to write to is never what a symbolic link leads to. On Windows others may rename and remove
// an open file as they may elsewhere, but for kClaim.
enum class Access {
  kRead,
  kNew,          // to write; EEXIST where there is a file
  kAppend,       // to write after the end; ENOENT where there is none
  kAppendOrNew,
  kStream,       // to write to a pipe or device; ENXIO where no process reads the pipe
  kNewClaim,     // to read and write; EEXIST where there is a file
  kClaim,        // to read and write; ENOENT where there is none
};
// -1, and errno, where it cannot be opened.
int open_descriptor(const std::string& path, Access access);
void close_descriptor(int file);

// How many bytes were read, 0 at the end; -1 and errno. A pipe that has none gives EAGAIN, except on
// Windows, which waits.
int64_t read_descriptor(int file, void* data, size_t size);
// How many bytes were written; -1 and errno. A reader that has gone gives EPIPE, and no signal.
int64_t write_descriptor(int file, const void* data, size_t size);
// Whether bytes can be read or written within that time; TRUE on Windows, which waits in the call.
bool wait_for_descriptor(int file, bool to_write, int milliseconds);
int64_t end_of_descriptor(int file);
bool cut_descriptor(int file, int64_t size);
// Reading and writing wait from now on.
bool let_descriptor_wait(int file);
// To the disk, past its own cache where the system can do that.
bool sync_descriptor(int file);

// A stream that owns the descriptor; NULL, and errno, where it cannot be made.
std::FILE* stream_of(int file, const char* mode);
int descriptor_of(std::FILE* stream);
bool seek_stream(std::FILE* stream, uint64_t offset);

// Replaces what is at `to`. Where another process has it open on Windows, the call is tried again
// for a second: virus scanners and indexers hold new files for a moment.
std::error_code rename_path(const std::string& from, const std::string& to);

}  // namespace runhooks
