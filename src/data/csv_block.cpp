#include "data/csv_block.h"

#include <algorithm>
#include <cstring>

#include "base/helping_queue.h"

namespace runhooks {

namespace {

constexpr size_t kChunk = 16 * 1024;           // bytes; about 50 microseconds of work
constexpr size_t kMaxBlockText = 16 * kChunk;  // limit per block
// minimum number of records for parallel reading
constexpr int64_t kMinRecords = 128, kMinRecordsFound = 16;

}  // namespace

CsvBlock::CsvBlock(const CsvColumns& columns) : columns_(columns) {
  for (size_t k = 0; k < columns.columns().size(); ++k) {
    if (columns.columns()[k].dtype == DType::kString) string_columns_.push_back(k);
  }
  words_.resize(string_columns_.size());
}

int64_t CsvBlock::read(std::string_view text,
                       int64_t n,
                       int64_t first,
                       bool needs_utf8,
                       CsvRows& rows,
                       const Dictionaries& words) {
  num_failed_records_ = 0;
  needs_utf8_ = needs_utf8;
  if (n < kMinRecords) return 0;
  const int64_t found = split_chunk(text.substr(0, kMaxBlockText), n);
  if (found < kMinRecordsFound) return 0;
  rows.reserve(first + found);
  for (auto& column : words_) column.resize(std::max(column.size(), static_cast<size_t>(found)));
  is_invalid_ = false;
  const auto guarded = [this](const auto& work) {  // exceptions must not leave a worker
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
      code_column(j, found, first, rows, words);
      return true;
    });
  });
  if (is_invalid_) {
    num_failed_records_ = found;
    return 0;
  }
  taken_ = CsvReader::Taken();
  for (size_t i = 0; i < num_chunks_; ++i) {
    taken_.bytes += chunks_[i].text.size();
    taken_.lines += chunks_[i].lines;
  }
  taken_.last_lines = chunks_[num_chunks_ - 1].last_lines;
  return found;
}

int64_t CsvBlock::split_chunk(std::string_view text, int64_t n) {
  CsvCutter cutter(text, columns_.format());
  num_chunks_ = 0;
  int64_t found = 0;
  while (found < n) {
    std::string_view lines;
    const int64_t got = cutter.next(kChunk, n - found, &lines);
    if (got == 0) break;
    add_chunk(lines, found, got);
    found += got;
  }
  return found;
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
  std::string_view left = chunk.text;
  chunk.copies.clear();
  chunk.lines = 0;
  for (int64_t row = chunk.first; row < chunk.first + chunk.rows; ++row) {
    if (left.empty() || chunk.splitter.split(left, false) != CsvSplit::kRecord) return false;
    if (!read_record(chunk, row, first + row, rows)) return false;
    left.remove_prefix(chunk.splitter.size());
    chunk.last_lines = chunk.splitter.lines();
    chunk.lines += chunk.last_lines;
  }
  return left.empty();
}

bool CsvBlock::read_record(Chunk& chunk, int64_t row, int64_t place, CsvRows& rows) {
  const std::vector<std::string_view>& fields = chunk.splitter.fields();
  if (!columns_.has_count(fields.size())) return false;
  size_t j = 0;
  for (size_t k = 0; k < columns_.columns().size(); ++k) {
    const CsvColumn& column = columns_.columns()[k];
    std::string_view field = fields[column.field];
    if (column.dtype != DType::kString) {
      if (!columns_.try_number(k, field, rows.at(k, place))) return false;
      continue;
    }
    const bool is_in_text =
        field.data() >= chunk.text.data() && field.data() <= chunk.text.data() + chunk.text.size();
    std::string decoded;
    if (!columns_.decoder().decode(&field, &decoded)) return false;
    const bool is_decoded = field.data() == decoded.data();
    if (!columns_.try_string(k, &field)) return false;
    if (needs_utf8_ && !is_utf8(field)) return false;
    if (!is_in_text || is_decoded) field = chunk.copies.emplace_back(field);
    words_[j++][static_cast<size_t>(row)] = field;
  }
  return true;
}

void CsvBlock::code_column(
    size_t j, int64_t n, int64_t first, CsvRows& rows, const Dictionaries& words) {
  const size_t k = string_columns_[j];
  char* place = rows.at(k, first);
  for (int64_t i = 0; i < n; ++i, place += sizeof(int32_t)) {
    const int32_t code = words[k]->code(words_[j][static_cast<size_t>(i)]);
    std::memcpy(place, &code, sizeof code);
  }
}

}  // namespace runhooks
