#include "io/files/append_log.h"

#include <cerrno>

#include "base/system_files.h"
#include "io/files/atomic_file.h"
#include "io/files/crc32c.h"
#include "io/files/record.h"
#include "io/proto/wire.h"

namespace runhooks {

namespace {

// Returns the size of the record at `at`, with header and footer; 0 if the record is not valid.
size_t valid_record_size(const std::string& bytes, size_t at) {
  if (bytes.size() - at < kRecordHeaderSize + kRecordFooterSize) return 0;
  const char* header = bytes.data() + at;
  uint64_t length = 0;
  if (!parse_record_header(header, &length)) return 0;
  if (length > bytes.size() - at - kRecordHeaderSize - kRecordFooterSize) return 0;
  const char* data = header + kRecordHeaderSize;
  if (mask_crc(crc32c(data, length)) != load_fixed32(data + length)) return 0;
  return kRecordHeaderSize + length + kRecordFooterSize;
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
  const bool is_complete = written == static_cast<int64_t>(record.size());
  // Removes a partial record, unless another process has appended data after it. Readers skip a
  // partial record.
  if (!is_complete && written > 0 && seek_to_end(file) == size + written) {
    truncate_descriptor(file, size);
  }
  close_descriptor(file);
  if (!is_complete) throw_system("Cannot write", path, reason);
}

void write_appended_records(const std::string& path, const std::vector<std::string>& records) {
  std::string bytes;
  for (const std::string& record : records) append_record(bytes, record);
  write_file_atomically(path, bytes);
}

std::vector<std::string> read_appended_records(const std::string& path, size_t* num_skipped) {
  std::vector<std::string> records;
  *num_skipped = 0;
  if (!file_exists(path)) return records;
  const std::string bytes = read_whole_file(path);
  for (size_t at = 0; at < bytes.size();) {
    const size_t size = valid_record_size(bytes, at);
    if (size == 0) {
      ++*num_skipped;
      ++at;
      continue;
    }
    records.push_back(
        bytes.substr(at + kRecordHeaderSize, size - kRecordHeaderSize - kRecordFooterSize));
    at += size;
  }
  return records;
}

}  // namespace runhooks
