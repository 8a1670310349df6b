#include "io/files/append_log.h"

#include <cerrno>

#include "base/system_files.h"
#include "io/files/atomic_file.h"
#include "io/files/crc32c.h"
#include "io/files/record.h"
#include "io/proto/wire.h"

namespace runhooks {

namespace {

constexpr size_t kHeader = 12, kFooter = 4;

size_t record_at(const std::string& bytes, size_t at) {
  if (bytes.size() - at < kHeader + kFooter) return 0;
  const char* header = bytes.data() + at;
  if (mask_crc(crc32c(header, 8)) != load_fixed32(header + 8)) return 0;
  const uint64_t length = load_fixed64(header);
  if (length > bytes.size() - at - kHeader - kFooter) return 0;
  const char* data = header + kHeader;
  if (mask_crc(crc32c(data, length)) != load_fixed32(data + length)) return 0;
  return kHeader + length + kFooter;
}

}  // namespace

void append_record_to(const std::string& path, std::string_view data) {
  std::string record;
  append_record(record, data);
  check_is_file(path);
  const int file = open_descriptor(path, Access::kAppendOrNew);
  if (file < 0) throw_system("Cannot write", path, errno);
  const int64_t size = seek_to_end(file);
  const int64_t written = write_descriptor(file, record.data(), record.size());
  const int reason = written < 0 ? errno : ENOSPC;
  const bool is_whole = written == static_cast<int64_t>(record.size());
  // Truncates a partial record unless another process has appended after it. Readers skip a partial
  // record that remains.
  if (!is_whole && written > 0 && seek_to_end(file) == size + written) {
    truncate_descriptor(file, size);
  }
  close_descriptor(file);
  if (!is_whole) throw_system("Cannot write", path, reason);
}

void write_appended_records(const std::string& path, const std::vector<std::string>& records) {
  std::string bytes;
  for (const std::string& record : records) append_record(bytes, record);
  write_file_atomically(path, bytes);
}

std::vector<std::string> read_appended_records(const std::string& path, size_t* damaged) {
  std::vector<std::string> records;
  *damaged = 0;
  if (!file_exists(path)) return records;
  const std::string bytes = read_whole_file(path);
  for (size_t at = 0; at < bytes.size();) {
    const size_t size = record_at(bytes, at);
    if (size == 0) {
      ++*damaged;
      ++at;
      continue;
    }
    records.push_back(bytes.substr(at + kHeader, size - kHeader - kFooter));
    at += size;
  }
  return records;
}

}  // namespace runhooks
