#include "io/files/atomic_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/fingerprint.h"
#include "base/interrupt.h"
#include "base/machine.h"
#include "base/number_text.h"
#include "base/paths.h"
#include "base/platform.h"
#include "base/random.h"
#include "base/system_files.h"
#include "io/files/rename_exchange.h"
#include "io/files/stale_files.h"

#if defined(__linux__)
#include <fcntl.h>
#endif
#if !defined(_WIN32)
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace runhooks {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void throw_error_code(const char* problem,
                                   const std::string& path,
                                   const std::error_code& error) {
  // On Windows the raw value is a system error code; its default condition maps it to errno.
  throw_system(problem, path, error.default_error_condition().value());
}

constexpr size_t kWriteChunk = size_t{8} << 20;

#if defined(__linux__)
// Preallocates large writes and starts write-back early, so that sync() has little left to do.
// Errors are ignored: they affect only speed, and sync() reports real write errors.
void preallocate(std::FILE* file, uint64_t at, size_t size) {
  if (!feature_enabled(SystemFeature::kFallocate)) return;
  (void)!fallocate(fileno(file), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at),
                   static_cast<off_t>(size));
}
void start_write_back(std::FILE* file, uint64_t at, size_t size) {
  if (!feature_enabled(SystemFeature::kFallocate)) return;
  (void)!sync_file_range(fileno(file), static_cast<off_t>(at), static_cast<off_t>(size),
                         SYNC_FILE_RANGE_WRITE);
}
#else
void preallocate(std::FILE*, uint64_t, size_t) {}
void start_write_back(std::FILE*, uint64_t, size_t) {}
#endif

#if !defined(_WIN32)
// Reads `size` bytes at `offset`, or fewer at the end of the file. Returns -1 and sets errno on
// failure.
int64_t read_all_at(int file, uint64_t offset, void* data, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t count = pread(file, static_cast<char*>(data) + done, size - done,
                                static_cast<off_t>(offset + done));
    if (count == 0) break;
    if (count < 0 && errno != EINTR) return -1;
    if (count > 0) done += static_cast<size_t>(count);
  }
  return static_cast<int64_t>(done);
}
#endif

std::string hex_digits(uint64_t number) { return format_text("%016" PRIx64, number); }

// Most file systems allow 255 bytes per name, but encrypted directories (eCryptfs) only 143. The
// suffix of a temporary name (mark, process id, random number) takes up to 31 bytes.
constexpr size_t kMaxStem = 143 - 31;
constexpr size_t kFingerprintSize = 17;  // "~" and 16 hexadecimal digits

std::string temporary_stem(const std::string& name) {
  if (name.size() <= kMaxStem) return name;
  size_t end = kMaxStem - kFingerprintSize;
  const auto is_within_character = [&name](size_t at) { return (name[at] & 0xc0) == 0x80; };
  for (int i = 0; i < 3 && is_within_character(end); ++i) --end;
  return str_cat(name.substr(0, end), "~", hex_digits(fingerprint64(name)));
}

// Returns a name for a temporary file. Its random number prevents an attacker from creating a link
// of that name first. Its process id tells later whether the process that wrote the file is dead.
std::string temporary_name(const std::string& path) {
  const std::string name = base_name(path);
  return str_cat(path.substr(0, path.size() - name.size()), temporary_stem(name), kTemporaryMark,
                 process_id(), "-", hex_digits(random_device_u64()));
}

std::FILE* open_to_write(const std::string& path, Access access) {
  const int file = open_descriptor(path, access);
  return file < 0 ? nullptr : stream_of(file, access == Access::kNew ? "wb" : "ab");
}

struct TemporaryFile {
  std::string path;
  std::FILE* file;
};

TemporaryFile create_temporary(const std::string& sibling, const std::string& path) {
  for (int tries = 0;; ++tries) {
    const std::string name = temporary_name(sibling);
    std::FILE* file = open_to_write(name, Access::kNew);
    if (file) return {name, file};
    if (errno != EEXIST || tries == 100) throw_system("Cannot write", path, errno);
  }
}

// Whether the path names an open descriptor of this process, such as "/dev/stdout".
bool is_open_descriptor(const std::string& path) {
  std::string resolved = path;
  for (int links = 0; links < 8; ++links) {
    if (resolved.rfind("/proc/", 0) == 0 || resolved.rfind("/dev/fd/", 0) == 0) return true;
    std::error_code error;
    const std::string target = path_text(fs::read_symlink(fs_path(resolved), error));
    if (error) return false;
    resolved = join_path(parent_folder(resolved), target);
  }
  return false;
}

// Whether to write to the path directly: a pipe, a device or an open descriptor. Throws for
// directories, disks and other special files.
bool is_written_directly(const std::string& path) {
  switch (file_kind(path)) {
    case FileKind::kFolder:
      throw_system("Cannot write", path, EISDIR);
    case FileKind::kBlockDevice:
    case FileKind::kOther:
      fail(Code::kFailedPrecondition, "Cannot write '", path, "': it is ",
           file_kind_description(file_kind(path)), ", not a regular file.");
    case FileKind::kPipe:
    case FileKind::kDevice:
      return true;
    case FileKind::kNone:
    case FileKind::kRegular:
      break;
  }
  return is_open_descriptor(path);
}

// Waits until the pipe has a reader. Polls instead of blocking in open(), so that Ctrl-C works.
int open_stream(const std::string& path) {
  for (;;) {
    const int file = open_descriptor(path, Access::kStream);
    if (file >= 0) return file;
    if (errno != ENXIO || file_kind(path) != FileKind::kPipe) {
      throw_system("Cannot write", path, errno);
    }
    check_interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// Returns the number of bytes written, 0 if the stream is not ready, or -1 with errno set.
int64_t write_some(int file, const char* data, size_t size) {
  if (!wait_for_descriptor(file, /*to_write=*/true, 100)) return 0;
  const int64_t written = write_descriptor(file, data, size);
  const bool is_full = written < 0 && (errno == EAGAIN || errno == EINTR);
  return is_full ? 0 : written;
}

bool is_decimal(const std::string& text) {
  return !text.empty() && text.size() < 10 && std::all_of(text.begin(), text.end(), is_ascii_digit);
}

bool is_hex_number(const std::string& text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Returns the process id in a temporary name ("x.tmp123-0a1b..."), or 0 if `name` is not temporary.
int pid_from_temp_name(const std::string& name) {
  const size_t mark = name.rfind(kTemporaryMark), dash = name.rfind('-');
  if (mark == std::string::npos || dash == std::string::npos || dash < mark) return 0;
  const size_t begin = mark + std::strlen(kTemporaryMark);
  const std::string process = name.substr(begin, dash - begin);
  const std::string unique_part = name.substr(dash + 1);
  const bool is_ours =
      is_decimal(process) && (is_hex_number(unique_part) || is_decimal(unique_part));
  return is_ours ? std::stoi(process) : 0;
}

// Whether `name` may be the temporary name of a file whose name starts with `prefix`. A shortened
// temporary name contains only the start of the original, so the answer can be a false positive.
bool may_have_prefix(const std::string& name, const std::string& prefix) {
  if (name.rfind(prefix, 0) == 0) return true;
  const size_t stem = std::min(name.rfind(kTemporaryMark), name.size());
  if (stem <= kFingerprintSize || name[stem - kFingerprintSize] != '~') return false;
  const bool is_shortened = is_hex_number(name.substr(stem - kFingerprintSize + 1, 16));
  return is_shortened &&
         prefix.compare(0, stem - kFingerprintSize, name, 0, stem - kFingerprintSize) == 0;
}

// Whether some file system could treat both names as equal, because it ignores case or normalizes
// Unicode.
bool may_be_same_name(const std::string& a, const std::string& b) {
  if (!is_ascii(a) && !is_ascii(b)) return true;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const char lower = x | 0x20;
    return x == y || ((x ^ y) == 0x20 && lower >= 'a' && lower <= 'z');
  });
}

// Returns a text that identifies the directory, its permissions and the effective user; "" if they
// are unavailable.
std::string permission_key([[maybe_unused]] const std::string& folder) {
#if defined(_WIN32)
  return "";
#else
  struct stat info;
  if (::stat(system_path(folder).c_str(), &info) != 0) return "";
  return str_cat(info.st_dev, " ", info.st_ino, " ", info.st_mode, " ", info.st_uid, " ",
                 info.st_gid, " ", geteuid(), " ", getegid());
#endif
}

const double kLoadTime = now_seconds();

// Whether the process may still be writing the file. TRUE in case of doubt, because a leftover file
// does no harm.
bool may_be_in_use(const std::string& path, int process) {
  // In a container every run may have the same process id, so files older than this process are
  // stale.
  if (process == process_id()) return modification_time(path) + 1 >= kLoadTime;
  return process_exists(process);
}

// Windows cannot replace an open file. Renames the old file first and then removes it; Windows
// deletes it when the last process closes it.
bool replace_open_file(const std::string& from, const std::string& to) {
  const std::string aside = temporary_path(to);
  if (!replace_by_two_renames(from, to, aside)) return false;
  std::error_code ignored;
  fs::remove(fs_path(aside), ignored);
  return true;
}

}  // namespace

bool file_exists(const std::string& path) {
  std::error_code error;
  return fs::exists(fs_path(path), error);
}

bool is_directory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(fs_path(path), error);
}

double modification_time(const std::string& path) {
  FileInfo info;
  if (!stat_path(path, &info)) throw_system("Cannot access", path, errno);
  return static_cast<double>(info.modified / 1000000000);
}

uint64_t file_size(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(fs_path(path), error);
  if (error) throw_error_code("Cannot read the size of", path, error);
  return size;
}

void create_directories(const std::string& path) {
  std::error_code error;
  if (path.empty()) return;
  fs::create_directories(fs_path(path), error);
  if (error && !file_exists(path)) throw_error_code("Cannot create the folder", path, error);
  if (!is_directory(path)) throw_system("Cannot create the folder", path, ENOTDIR);
}

std::vector<std::string> list_directory(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entry(fs_path(path), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(path_text(entry->path().filename()));
  }
  if (error) throw_error_code("Cannot list the folder", path, error);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> list_names_with_prefix(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> names;
  const std::string directory = folder.empty() ? "." : folder;
  const std::string extension = prefix.substr(std::min(prefix.rfind('.'), prefix.size()));
  const std::vector<std::string> all = list_directory(directory);
  for (const std::string& name : all) {
    if (name.rfind(prefix, 0) == 0) {
      names.push_back(name);
      continue;
    }
    const size_t at = extension.empty() ? std::string::npos : name.rfind(extension);
    if (at == std::string::npos) continue;
    const std::string respelled = prefix + name.substr(at + extension.size());
    if (!may_be_same_name(name, respelled)) continue;
    if (std::binary_search(all.begin(), all.end(), respelled)) continue;
    std::error_code ignored;
    const fs::path listed_path = fs_path(join_path(directory, name));
    const fs::path respelled_path = fs_path(join_path(directory, respelled));
    if (fs::equivalent(listed_path, respelled_path, ignored)) names.push_back(respelled);
  }
  return names;
}

void check_is_file(const std::string& path) {
  const FileKind kind = file_kind(path);
  if (kind == FileKind::kNone || kind == FileKind::kRegular) return;
  fail(Code::kFailedPrecondition, "Cannot write '", path, "': it is ", file_kind_description(kind),
       ", not a regular file.");
}

bool remove_file(const std::string& path) {
  std::error_code error;
  const bool removed = fs::remove(fs_path(path), error);
  if (error == std::errc::filename_too_long) return false;
  if (error) throw_error_code("Cannot remove", path, error);
  return removed;
}

void rename_file(const std::string& from, const std::string& to) {
  constexpr auto kDenied = std::errc::permission_denied;
  const bool is_file = file_kind(to) == FileKind::kRegular;
  const bool can_replace = !is_file || feature_enabled(SystemFeature::kReplaceOpen);
  const std::error_code error = can_replace ? rename_path(from, to) : std::make_error_code(kDenied);
  if (!error || (is_file && error == kDenied && replace_open_file(from, to))) return;
  throw_error_code("Cannot replace", to, error);
}

bool is_writable_folder(const std::string& folder) {
  constexpr const char* kProbe = ".runhooks";
  static std::string last_writable_key;  // of the last directory that passed the probe
  const std::string key = permission_key(folder);
  if (!key.empty() && key == last_writable_key) return true;
  remove_stale_files(folder, {kProbe});
  const std::string probe = temporary_name(join_path(folder, kProbe));
  std::FILE* file = open_to_write(probe, Access::kNew);
  if (!file) return false;
  std::fclose(file);
  if (!remove_file(probe)) return false;
  last_writable_key = key;
  return true;
}

std::string temporary_path(const std::string& path) { return temporary_name(path); }

bool is_temporary_of(const std::string& temporary, const std::string& name) {
  const std::string full_name = base_name(temporary);
  return full_name.substr(0, full_name.rfind(kTemporaryMark)) == temporary_stem(name);
}

std::vector<std::string> stale_files(const std::string& folder,
                                     const std::vector<std::string>& prefixes) {
  std::vector<std::string> stale;
  if (!is_directory(folder)) return stale;
  for (const std::string& name : list_directory(folder)) {
    const bool is_ours =
        std::any_of(prefixes.begin(), prefixes.end(),
                    [&name](const std::string& prefix) { return may_have_prefix(name, prefix); });
    const int process = is_ours ? pid_from_temp_name(name) : 0;
    const std::string path = join_path(folder, name);
    if (process > 0 && !may_be_in_use(path, process)) stale.push_back(path);
  }
  return stale;
}

void remove_stale_files(const std::string& folder, const std::vector<std::string>& prefixes) {
  for (const std::string& path : stale_files(folder, prefixes)) remove_file(path);
}

void remove_stale_temporaries(const std::string& path) {
  const std::string folder = parent_folder(path);
  try {
    remove_stale_files(folder.empty() ? "." : folder, {base_name(path) + kTemporaryMark});
  } catch (const Error&) {
    // Temporary files that remain only waste space, so an unreadable directory is not an error.
  }
}

std::string read_whole_file(const std::string& path) {
  InputFile file(path);
  std::string bytes(static_cast<size_t>(file.size()), '\0');
  bytes.resize(file.read_at(0, bytes.data(), bytes.size()));
  return bytes;
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  file_ = open_regular_file(path_);
  std::error_code error;
  size_ = fs::file_size(fs_path(path_), error);
  if (error) {
    std::fclose(file_);
    throw_error_code("Cannot read the size of", path_, error);
  }
}

InputFile::~InputFile() { std::fclose(file_); }

size_t InputFile::read_at(uint64_t offset, void* data, size_t size) {
  if (!seek_stream(file_, offset)) throw_system("Cannot read", path_, errno);
  return read(data, size);
}

int64_t InputFile::read_at_thread_safe(uint64_t offset, void* data, size_t size) noexcept {
#if !defined(_WIN32)
  if (feature_enabled(SystemFeature::kPread)) return read_all_at(fileno(file_), offset, data, size);
#endif
  static std::mutex seek_mutex;  // all threads share the seek position
  const std::lock_guard<std::mutex> lock(seek_mutex);
  if (!seek_stream(file_, offset)) return -1;
  const size_t num_read = size ? std::fread(data, 1, size, file_) : 0;
  return num_read < size && std::ferror(file_) ? -1 : static_cast<int64_t>(num_read);
}

size_t InputFile::read(void* data, size_t size) {
  const size_t num_read = size ? std::fread(data, 1, size, file_) : 0;
  if (num_read < size && std::ferror(file_)) throw_system("Cannot read", path_, errno);
  return num_read;
}

OutputFile::OutputFile(std::string path, At at) : path_(std::move(path)), path_in_errors_(path_) {
  const bool is_new = at == At::kNew;
  if (!is_new) check_is_file(path_);
  file_ = open_to_write(path_, is_new ? Access::kNew : Access::kAppend);
  if (!file_) throw_system(is_new ? "Cannot create" : "Cannot write", path_in_errors_, errno);
}

OutputFile::OutputFile(SiblingTemp, const std::string& sibling, const std::string& path)
    : path_in_errors_(path) {
  TemporaryFile temporary = create_temporary(sibling, path);
  path_ = std::move(temporary.path);
  file_ = temporary.file;
}

OutputFile::OutputFile(InPlace, const std::string& path) : path_(path), path_in_errors_(path) {
  stream_ = open_stream(path);
}

OutputFile::~OutputFile() {
  if (file_) std::fclose(file_);
  if (stream_ >= 0) close_descriptor(stream_);
}

void OutputFile::throw_write() {
  const int reason = errno;
  if (file_) std::fclose(file_);
  if (stream_ >= 0) close_descriptor(stream_);
  file_ = nullptr;
  stream_ = -1;
  throw_system("Cannot write", path_in_errors_, reason);
}

void OutputFile::write(const void* data, size_t size) {
  if (!is_open())
    fail(Code::kFailedPrecondition, "Cannot write '", path_in_errors_, "': it is closed.");
  if (stream_ >= 0) {
    write_to_stream(static_cast<const char*>(data), size);
    bytes_written_ += size;
    return;
  }
  const bool is_large = size >= kWriteChunk;
  if (is_large) preallocate(file_, bytes_written_, size);
  for (size_t done = 0; done < size;) {
    const size_t chunk = std::min(size - done, kWriteChunk);
    if (std::fwrite(static_cast<const char*>(data) + done, 1, chunk, file_) != chunk) throw_write();
    if (is_large) {
      flush();
      start_write_back(file_, bytes_written_, chunk);
    }
    done += chunk;
    bytes_written_ += chunk;
  }
}

// Writes to a pipe or device. Checks for interrupts while its reader is slow. If the reader has
// closed the pipe, throws a write error.
void OutputFile::write_to_stream(const char* data, size_t size) {
  while (size > 0) {
    check_interrupt();
    const int64_t written = write_some(stream_, data, size);
    if (written < 0) throw_write();
    data += written;
    size -= static_cast<size_t>(written);
  }
}

void OutputFile::flush() {
  if (file_ && std::fflush(file_) != 0) throw_write();
}

void OutputFile::sync() {
  flush();
  if (!file_) return;
  if (!sync_descriptor(descriptor_of(file_))) throw_write();
}

void OutputFile::close() {
  if (stream_ >= 0) close_descriptor(stream_);
  stream_ = -1;
  if (!file_) return;
  std::FILE* file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) throw_system("Cannot write", path_in_errors_, errno);
}

AtomicFile::AtomicFile(std::string path, const std::string& sibling)
    : path_(std::move(path)),
      is_stream_(is_written_directly(path_)),
      file_(is_stream_ ? OutputFile(OutputFile::InPlace(), path_)
                       : OutputFile(OutputFile::SiblingTemp(), sibling, path_)) {}

AtomicFile::~AtomicFile() {
  if (committed_) return;
  try {
    file_.close();
  } catch (const Error&) {
  }
  std::error_code error;
  if (!is_stream_) fs::remove(fs_path(file_.path()), error);
}

void AtomicFile::finish() {
  if (finished_) return;
  if (!is_open()) fail(Code::kFailedPrecondition, "Cannot write '", path_, "': it is closed.");
  file_.sync();
  file_.close();
  finished_ = true;
}

void AtomicFile::commit() {
  if (committed_) return;
  finish();
  if (!is_stream_) rename_file(file_.path(), path_);
  committed_ = true;
}

}  // namespace runhooks
