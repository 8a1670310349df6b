#include "data/csv_block.h"

#include <algorithm>
#include <cstring>

#include "base/helping_queue.h"

namespace runhooks {

namespace {

constexpr size_t kChunk = 16 * 1024;           // bytes; about 50 microseconds of work
constexpr size_t kMaxBlockText = 16 * kChunk;  // limit per block
// A block is parsed in parallel only if the caller asks for at least kMinRecordsWanted records and
// the text contains at least kMinRecordsInText.
constexpr int64_t kMinRecordsWanted = 128, kMinRecordsInText = 16;

}  // namespace

CsvBlock::CsvBlock(const CsvColumns& columns) : columns_(columns) {
  for (size_t k = 0; k < columns.columns().size(); ++k) {
    if (columns.columns()[k].dtype == DType::kString) string_columns_.push_back(k);
  }
  strings_.resize(string_columns_.size());
}

int64_t CsvBlock::read(std::string_view text,
                       int64_t n,
                       int64_t first,
                       bool needs_utf8,
                       CsvRows& rows,
                       const Dictionaries& dictionaries) {
  num_failed_records_ = 0;
  needs_utf8_ = needs_utf8;
  if (n < kMinRecordsWanted) return 0;
  const int64_t num_records = split_into_chunks(text.substr(0, kMaxBlockText), n);
  if (num_records < kMinRecordsInText) return 0;
  rows.reserve(first + num_records);
  for (auto& column : strings_)
    column.resize(std::max(column.size(), static_cast<size_t>(num_records)));
  is_invalid_ = false;
  const auto guarded = [this](const auto& work) {  // work for helping_for() must not throw
    try {
      if (!is_invalid_.load(std::memory_order_relaxed) && !work()) is_invalid_ = true;
    } catch (...) {
      is_invalid_ = true;
    }
  };
  helping_for(num_chunks_,
              [&](size_t i) { guarded([&] { return read_chunk(chunks_[i], first, rows); }); });
  // The code of a string depends on the strings before it, so each column is encoded serially.
  helping_for(string_columns_.size(), [&](size_t j) {
    guarded([&] {
      encode_column(j, num_records, first, rows, dictionaries);
      return true;
    });
  });
  if (is_invalid_) {
    num_failed_records_ = num_records;
    return 0;
  }
  taken_ = CsvReader::ConsumedRecords();
  for (size_t i = 0; i < num_chunks_; ++i) {
    taken_.bytes += chunks_[i].text.size();
    taken_.lines += chunks_[i].lines;
  }
  taken_.last_lines = chunks_[num_chunks_ - 1].last_lines;
  return num_records;
}

int64_t CsvBlock::split_into_chunks(std::string_view text, int64_t n) {
  CsvChunker cutter(text, columns_.format());
  num_chunks_ = 0;
  int64_t num_records = 0;
  while (num_records < n) {
    std::string_view lines;
    const int64_t count = cutter.next(kChunk, n - num_records, &lines);
    if (count == 0) break;
    add_chunk(lines, num_records, count);
    num_records += count;
  }
  return num_records;
}

void CsvBlock::add_chunk(std::string_view text, int64_t first, int64_t rows) {
  if (num_chunks_ == chunks_.size()) chunks_.emplace_back(columns_.format());
  Chunk& chunk = chunks_[num_chunks_++];
  chunk.text = text;
  chunk.first = first;
  chunk.rows = rows;
}

// Returns false unless the chunk consists of whole, well-formed records.
bool CsvBlock::read_chunk(Chunk& chunk, int64_t first, CsvRows& rows) {
  std::string_view rest_of_chunk = chunk.text;
  chunk.copies.clear();
  chunk.lines = 0;
  for (int64_t row = chunk.first; row < chunk.first + chunk.rows; ++row) {
    if (rest_of_chunk.empty() || chunk.splitter.split(rest_of_chunk, false) != CsvSplit::kRecord)
      return false;
    if (!read_record(chunk, row, first + row, rows)) return false;
    rest_of_chunk.remove_prefix(chunk.splitter.size());
    chunk.last_lines = chunk.splitter.lines();
    chunk.lines += chunk.last_lines;
  }
  return rest_of_chunk.empty();
}

bool CsvBlock::read_record(Chunk& chunk, int64_t row, int64_t target_row, CsvRows& rows) {
  const std::vector<std::string_view>& fields = chunk.splitter.fields();
  if (!columns_.has_valid_field_count(fields.size())) return false;
  size_t j = 0;
  for (size_t k = 0; k < columns_.columns().size(); ++k) {
    const CsvColumn& column = columns_.columns()[k];
    std::string_view field = fields[column.field];
    if (column.dtype != DType::kString) {
      if (!columns_.try_number(k, field, rows.at(k, target_row))) return false;
      continue;
    }
    const bool is_view_of_text =
        field.data() >= chunk.text.data() && field.data() <= chunk.text.data() + chunk.text.size();
    std::string decoded;
    if (!columns_.decoder().decode(&field, &decoded)) return false;
    const bool is_decoded = field.data() == decoded.data();
    if (!columns_.try_string(k, &field)) return false;
    if (needs_utf8_ && !is_utf8(field)) return false;
    if (!is_view_of_text || is_decoded) field = chunk.copies.emplace_back(field);
    strings_[j++][static_cast<size_t>(row)] = field;
  }
  return true;
}

void CsvBlock::encode_column(
    size_t j, int64_t n, int64_t first, CsvRows& rows, const Dictionaries& dictionaries) {
  const size_t k = string_columns_[j];
  char* out = rows.at(k, first);
  for (int64_t i = 0; i < n; ++i, out += sizeof(int32_t)) {
    const int32_t code = dictionaries[k]->code(strings_[j][static_cast<size_t>(i)]);
    std::memcpy(out, &code, sizeof code);
  }
}

}  // namespace runhooks
