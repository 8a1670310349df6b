// Reads, appends to and atomically replaces files (AtomicFile), and manages directories.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/open_file.h"
#include "base/paths.h"

namespace runhooks {

bool file_exists(const std::string& path);  // also TRUE for directories
bool is_directory(const std::string& path);
uint64_t file_size(const std::string& path);
double modification_time(const std::string& path);  // seconds since 1970
// Creates missing parents too; an existing directory is no error.
void create_directories(const std::string& path);
std::vector<std::string> list_directory(const std::string& path);
// Returns the names in a directory that start with `prefix`. A file system that ignores case or
// normalizes Unicode may list a name in another spelling; the result then has the spelling of
// `prefix`. An empty `folder` is the current directory.
std::vector<std::string> list_names_with_prefix(const std::string& folder, const std::string& prefix);
// Throws if the path exists and is not a regular file. For writers that append or modify in place.
void check_is_file(const std::string& path);
bool remove_file(const std::string& path);
void rename_file(const std::string& from, const std::string& to);
// Whether files can be created in a directory. Probes by creating a file, because permission bits
// are unreliable; caches the last positive answer.
bool is_writable_folder(const std::string& folder);

// Removes temporary files that dead processes have left, if the name of the file that they were
// written for starts with one of `prefixes`.
void remove_stale_files(const std::string& folder, const std::vector<std::string>& prefixes);

std::string read_whole_file(const std::string& path);
void write_file_atomically(const std::string& path, std::string_view bytes);

class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  // at the time of opening
  // Reads `size` bytes at `offset`, or fewer at the end of the file; returns the number of bytes.
  size_t read_at(uint64_t offset, void* data, size_t size);
  // Thread-safe variant of read_at(). Returns -1 and sets errno on failure.
  int64_t read_at_thread_safe(uint64_t offset, void* data, size_t size) noexcept;
  size_t read(void* data, size_t size);

 private:
  std::string path_;
  std::FILE* file_ = nullptr;
  uint64_t size_ = 0;
};

// A file that data are appended to. A failed write closes it, because later data would follow an
// incomplete write.
class OutputFile {
 public:
  // kNew creates the file, and throws kAlreadyExists if the path exists, even as a dangling link.
  // kExisting reopens a file that this process wrote, and throws kNotFound if it is missing.
  enum class At { kNew, kExisting };
  explicit OutputFile(std::string path, At at = At::kNew);
  ~OutputFile();  // ignores errors; close() throws them
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return path_; }
  bool is_open() const { return file_ != nullptr || stream_ >= 0; }
  uint64_t bytes_written() const { return bytes_written_; }
  void write(const void* data, size_t size);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  // flush() passes all bytes to the system; sync() also waits until they are on the disk.
  void flush();
  void sync();
  void close();

 private:
  friend class AtomicFile;
  struct SiblingTemp {};  // a temporary file next to `sibling`; errors name `path`
  struct InPlace {};      // the pipe or device at `path`
  OutputFile(SiblingTemp, const std::string& sibling, const std::string& path);
  OutputFile(InPlace, const std::string& path);
  [[noreturn]] void throw_write();
  void write_to_stream(const char* data, size_t size);
  std::string path_, path_in_errors_;
  std::FILE* file_ = nullptr;
  int stream_ = -1;
  uint64_t bytes_written_ = 0;
};

// Writes to a temporary file next to `path`, which commit() renames to `path`; so an error or a
// killed process leaves the old file intact. Without commit(), the destructor removes the temporary
// file. Writes directly to pipes and devices; rejects directories and block devices.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path) : AtomicFile(path, path) {}
  // `sibling` is a path in the directory of `path`; the temporary file is named after it.
  AtomicFile(std::string path, const std::string& sibling);
  ~AtomicFile();

  const std::string& path() const { return path_; }
  bool is_open() const { return file_.is_open(); }
  uint64_t bytes_written() const { return file_.bytes_written(); }
  void write(const void* data, size_t size) { file_.write(data, size); }
  void write(std::string_view bytes) { file_.write(bytes); }
  OutputFile& output() { return file_; }
  // Syncs and closes the file, so that commit() cannot fail for lack of space.
  void finish();
  void commit();

 private:
  std::string path_;
  bool is_stream_;
  OutputFile file_;
  bool finished_ = false, committed_ = false;
};

}  // namespace runhooks
