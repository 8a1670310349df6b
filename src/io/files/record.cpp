#include "io/files/record.h"

#include <algorithm>

#include "base/interrupt.h"
#include "io/files/crc32c.h"
#include "io/files/stale_files.h"
#include "io/proto/wire.h"

namespace runhooks {

namespace {
// Limit if the file size is unknown, because a small compressed file can expand to any length.
constexpr uint64_t kMaxLengthIfSizeUnknown = uint64_t{1} << 28;

void append_header(std::string& out, uint64_t size) {
  const size_t begin = out.size();
  append_fixed64(out, size);
  append_fixed32(out, mask_crc(crc32c(out.data() + begin, 8)));
}
}  // namespace

bool parse_record_header(const char* header, uint64_t* length) {
  *length = load_fixed64(header);
  return mask_crc(crc32c(header, 8)) == load_fixed32(header + 8);
}

void append_record(std::string& out, std::string_view data) {
  append_header(out, data.size());
  out.append(data);
  append_fixed32(out, mask_crc(crc32c(data)));
}

RecordWriter::RecordWriter(const std::string& path, Compression compression, Mode mode) {
  if (mode == Mode::kReplace) {
    remove_stale_temporaries(path);
    atomic_file_.emplace(path);
  } else {
    plain_file_.emplace(path,
                        mode == Mode::kNew ? OutputFile::At::kNew : OutputFile::At::kExisting);
  }
  output_.emplace(file(), compression);
}

RecordWriter::~RecordWriter() {
  try {
    if (plain_file_ && is_open()) close();
  } catch (const Error&) {
    // A destructor must not throw; callers that need the error call close().
  }
}

const std::string& RecordWriter::path() const {
  return atomic_file_ ? atomic_file_->path() : plain_file_->path();
}

void RecordWriter::write_parts(const std::vector<std::string_view>& parts) {
  uint64_t size = 0;
  uint32_t crc = 0;
  for (std::string_view part : parts) {
    size += part.size();
    crc = crc32c_extend(crc, part.data(), part.size());
  }
  std::string header, footer;
  append_header(header, size);
  append_fixed32(footer, mask_crc(crc));
  output_->write(header);
  for (std::string_view part : parts) output_->write(part);
  output_->write(footer);
}

void RecordWriter::flush() { output_->flush(); }

void RecordWriter::close() {
  output_->finish();
  if (atomic_file_) {
    atomic_file_->commit();
  } else {
    plain_file_->close();
  }
}

void RecordReader::throw_checksum_mismatch(const char* part) const {
  fail(Code::kDataLoss, "Corrupted record at ", offset_, " in '", path(), "': the checksum of its ",
       part, " does not match.");
}

RecordReader::Result RecordReader::read_header(uint64_t* length) {
  char header[kRecordHeaderSize];
  const size_t num_read = stream_.read(header, sizeof header);
  if (num_read == 0) return Result::kEnd;
  if (num_read < sizeof header) return Result::kTruncated;
  if (!parse_record_header(header, length)) throw_checksum_mismatch("length");
  return Result::kRecord;
}

RecordReader::Result RecordReader::read_data(uint64_t length, std::string& data) {
  if (length > stream_.remaining()) return Result::kTruncated;
  if (length > kMaxLengthIfSizeUnknown && stream_.remaining() == stream_.kUnknown) {
    fail(Code::kDataLoss, "Corrupted record at ", offset_, " in '", path(), "': its length is ",
         length, " bytes; the limit for compressed files and streams is ", kMaxLengthIfSizeUnknown,
         ".");
  }
  // Grows in steps, so that a wrong length in a compressed file does not allocate all memory.
  constexpr uint64_t kStep = 16u << 20;
  data.clear();
  while (data.size() < length) {
    const size_t begin = data.size();
    data.resize(begin + static_cast<size_t>(std::min(kStep, length - begin)));
    if (stream_.read(&data[begin], data.size() - begin) < data.size() - begin) {
      return Result::kTruncated;
    }
  }
  char footer[kRecordFooterSize];
  if (stream_.read(footer, sizeof footer) < sizeof footer) return Result::kTruncated;
  end_of_last_read_ = stream_.offset();
  if (mask_crc(crc32c(data)) != load_fixed32(footer)) throw_checksum_mismatch("data");
  return Result::kRecord;
}

RecordReader::Result RecordReader::read(std::string& data) {
  uint64_t length = 0;
  Result result = read_header(&length);
  if (result == Result::kRecord) result = read_data(length, data);
  if (result == Result::kRecord) {
    offset_ = stream_.offset();
  } else {
    data.clear();
    if (result == Result::kTruncated && stream_.can_seek()) stream_.seek(offset_);
  }
  return result;
}

bool RecordReader::next(std::string& data) {
  const Result result = read(data);
  if (result == Result::kTruncated) {
    fail(Code::kDataLoss, "Truncated record at ", offset_, " in '", path(), "'.");
  }
  return result == Result::kRecord;
}

bool RecordReader::skip() {
  if (!stream_.can_seek()) {
    const bool is_read_in_full = end_of_last_read_ > offset_;
    offset_ = end_of_last_read_;
    return is_read_in_full;
  }
  stream_.seek(offset_);
  char header[kRecordHeaderSize];
  if (stream_.read(header, sizeof header) < sizeof header) return false;
  uint64_t length = 0;
  if (!parse_record_header(header, &length)) return false;
  constexpr uint64_t kMaxLength = uint64_t{1} << 62;
  if (length > kMaxLength || length > stream_.remaining()) return false;
  seek(stream_.offset() + length + kRecordFooterSize);
  return true;
}

void RecordReader::seek(uint64_t offset) {
  stream_.seek(offset);
  offset_ = offset;
}

std::vector<std::string> read_records(const std::string& path,
                                      bool* truncated,
                                      Compression compression) {
  RecordReader reader(path, compression);
  std::vector<std::string> records;
  std::string data;
  RecordReader::Result result;
  InterruptPoll poll;
  while ((result = reader.read(data)) == RecordReader::Result::kRecord) {
    poll();
    records.push_back(data);
  }
  if (truncated) *truncated = result == RecordReader::Result::kTruncated;
  return records;
}

}  // namespace runhooks
