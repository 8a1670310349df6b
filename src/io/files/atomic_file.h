// Files read whole or in parts, appended to, or replaced atomically (AtomicFile).
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/open_file.h"
#include "base/paths.h"

namespace runhooks {

bool file_exists(const std::string& path);  // a folder counts too
bool is_directory(const std::string& path);
uint64_t file_size(const std::string& path);
double modification_time(const std::string& path);  // seconds since 1970
// With the folders above it; fine where it is there already.
void create_directories(const std::string& path);
// Names, without "." and "..", sorted bytewise.
std::vector<std::string> list_directory(const std::string& path);
// Those that begin so, as this process spells them: a file system that ignores case or the
// composition of letters may give back others. An empty folder is the current one.
std::vector<std::string> names_beginning(const std::string& folder, const std::string& prefix);
// Throws where something else than a regular file stands at the path, which is to be written in
// part.
void check_is_file(const std::string& path);
// FALSE where there was none.
bool remove_file(const std::string& path);
void rename_file(const std::string& from, const std::string& to);
// Whether files can be made in a folder: tried, since no question to the system is reliable, but once
// for all calls in a row about the same folder with the same rights.
bool can_write_in(const std::string& folder);

// Removes what writers of the folder's files left behind that were killed: temporary files of
// processes that are gone, of files whose names begin with one of `prefixes`.
void remove_stale_files(const std::string& folder, const std::vector<std::string>& prefixes);

std::string read_whole_file(const std::string& path);
void write_file_atomically(const std::string& path, std::string_view bytes);

// A regular file to read from at any place.
class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  // when it was opened
  // As many bytes as there are, at most `size`, from `offset`.
  size_t read_at(uint64_t offset, void* data, size_t size);
  // The same, from any thread at any time; nothing is thrown: below 0 the system has failed, and
  // errno says why.
  int64_t read_part(uint64_t offset, void* data, size_t size) noexcept;
  // The next ones.
  size_t read(void* data, size_t size);

 private:
  std::string path_;
  std::FILE* file_ = nullptr;
  uint64_t size_ = 0;
};

// A file to append to. A write that fails closes it: what came after would follow a part of
// something.
class OutputFile {
 public:
  // kNew: kAlreadyExists where there is one, be it a link that leads nowhere. kThere: one that this
  // process has written before; kNotFound where there is none.
  enum class At { kNew, kThere };
  explicit OutputFile(std::string path, At at = At::kNew);
  ~OutputFile();  // closes, and stays silent where that fails: who wants to know calls close()
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return path_; }
  bool is_open() const { return file_ != nullptr || stream_ >= 0; }
  uint64_t bytes_written() const { return bytes_written_; }
  void write(const void* data, size_t size);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  // Hands all bytes to the system; with sync() they are on the disk.
  void flush();
  void sync();
  void close();

 private:
  friend class AtomicFile;
  struct SiblingTemp {};  // a new file of a name that begins with `beside`; errors name `path`
  struct InPlace {};  // the pipe or device that stands at `path`
  OutputFile(SiblingTemp, const std::string& beside, const std::string& path);
  OutputFile(InPlace, const std::string& path);
  [[noreturn]] void throw_write();
  void write_to_stream(const char* data, size_t size);
  std::string path_, shown_;
  std::FILE* file_ = nullptr;
  int stream_ = -1;  // the descriptor of a pipe or device
  uint64_t bytes_written_ = 0;
};

// Writes to a temporary file beside `path`, whose name nobody can foresee. commit() puts it in its
// place; without it the destructor removes it, and a process that is killed leaves the old file as
// it was. A pipe or a device at `path` is written to as it is; folders and disks are refused.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path) : AtomicFile(path, path) {}
  // The temporary file's name begins with `beside`, a path in the same folder.
  AtomicFile(std::string path, const std::string& beside);
  ~AtomicFile();

  const std::string& path() const { return path_; }
  bool is_open() const { return file_.is_open(); }
  uint64_t bytes_written() const { return file_.bytes_written(); }
  void write(const void* data, size_t size) { file_.write(data, size); }
  void write(std::string_view bytes) { file_.write(bytes); }
  // For what writes through another layer, such as a compression.
  OutputFile& output() { return file_; }
  // Flushes to the disk and closes, so that what is left to commit() cannot run out of space.
  void finish();
  void commit();

 private:
  std::string path_;
  bool is_stream_;
  OutputFile file_;
  bool finished_ = false, committed_ = false;
};

}  // namespace runhooks
