#include "io/formats/csv_reader.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace runhooks {

// --- a record

namespace {

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

}  // namespace

CsvSplit CsvSplitter::split(std::string_view text, bool is_all) {
  fields_.clear();
  unescaped_used_ = size_ = 0;
  lines_ = 1;
  CsvSplit result = CsvSplit::kRecord;
  for (;;) {
    if (format_.has_quotes && size_ < text.size() && text[size_] == '"') {
      if (!quoted(text, is_all, &result)) return result;
    } else {
      const size_t begin = size_;
      while (size_ < text.size() && text[size_] != format_.delim && !is_line_end(text[size_])) {
        if (text[size_] == '"' && format_.has_quotes) return CsvSplit::kStrayQuote;
        ++size_;
      }
      if (size_ == text.size() && !is_all) return CsvSplit::kCutOff;
      fields_.push_back(text.substr(begin, size_ - begin));
    }
    if (size_ < text.size() && text[size_] == format_.delim) {
      ++size_;
      continue;
    }
    end_of_record(text, is_all, &result);
    return result;
  }
}

// From an opening quote to what follows the closing one.
bool CsvSplitter::quoted(std::string_view text, bool is_all, CsvSplit* result) {
  const size_t begin = ++size_;
  std::string* unescaped = nullptr;
  for (size_t from = begin;;) {
    const size_t quote = text.find('"', size_);
    const bool is_known = quote != std::string_view::npos && (quote + 1 < text.size() || is_all);
    if (!is_known) {
      *result = CsvSplit::kCutOff;
      return false;
    }
    size_ = quote + 1;
    const bool is_escape = size_ < text.size() && text[size_] == '"';
    if (is_escape || unescaped) {
      if (!unescaped) {
        if (unescaped_used_ >= unescaped_.size()) unescaped_.emplace_back();
        unescaped = &unescaped_[unescaped_used_++];
        unescaped->clear();
      }
      unescaped->append(text.substr(from, quote - from + (is_escape ? 1 : 0)));
    }
    if (is_escape) {
      from = ++size_;
      continue;
    }
    for (const char c : text.substr(begin, quote - begin)) lines_ += c == '\n';
    fields_.push_back(unescaped ? std::string_view(*unescaped) : text.substr(begin, quote - begin));
    break;
  }
  const bool is_end =
      size_ == text.size() || text[size_] == format_.delim || is_line_end(text[size_]);
  if (!is_end) *result = CsvSplit::kAfterQuote;
  return is_end;
}

bool CsvSplitter::end_of_record(std::string_view text, bool is_all, CsvSplit* result) {
  if (size_ < text.size() && text[size_] == '\r') {
    if (size_ + 1 == text.size() && !is_all) {
      *result = CsvSplit::kCutOff;  // a \n may follow
      return false;
    }
    if (size_ + 1 < text.size() && text[size_ + 1] == '\n') ++size_;
  }
  if (size_ < text.size()) ++size_;
  return true;
}

// --- a file

CsvReader::CsvReader(const ByteSource& source, Compression compression, const CsvFormat& format)
    : bytes_(source, compression), splitter_(format) {
  bytes_.begin_text();
}

bool CsvReader::next() {
  bool is_all = false;
  line_ = lines_ + 1;
  if (bytes_.view().empty() && !bytes_.more()) return false;
  CsvSplit split = splitter_.split(bytes_.view(), is_all);
  while (split == CsvSplit::kCutOff && !is_all) {
    is_all = !bytes_.more();
    split = splitter_.split(bytes_.view(), is_all);
  }
  if (split != CsvSplit::kRecord) fail_quotes(split);
  bytes_.take(splitter_.size());  // the fields stay where they are until more is read
  lines_ += splitter_.lines();
  return true;
}

void CsvReader::fail_quotes(CsvSplit split) {
  const char* why = "a quote that is not closed";
  if (split == CsvSplit::kStrayQuote) why = "a quote inside a field without quotes";
  if (split == CsvSplit::kAfterQuote) why = "a quote inside a field that is not written twice";
  fail(Code::kDataLoss, "Line ", line_, " of '", path(), "', field ",
       static_cast<unsigned long>(splitter_.field_number() +
                                  (split == CsvSplit::kAfterQuote ? 0 : 1)),
       ": ", why, ".");
}

bool CsvReader::skip() {
  if (lines_ >= line_) return true;  // what was wrong was what the fields say
  std::string line;
  if (!next_line(bytes_, &line)) return false;
  ++lines_;
  return true;
}

void CsvReader::skip_lines(int64_t n) {
  std::string line;
  for (; n > 0 && next_line(bytes_, &line); --n) ++lines_;
}

void CsvReader::seek(uint64_t offset, int64_t lines) {
  bytes_.seek(offset);
  lines_ = lines;
}

// --- numbers

namespace {

std::string_view trimmed(std::string_view field) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!field.empty() && is_space(field.front())) field.remove_prefix(1);
  while (!field.empty() && is_space(field.back())) field.remove_suffix(1);
  return field;
}

template <typename T>
bool parse_whole(std::string_view field, T* value) {
  field = trimmed(field);
  const bool is_negative = !field.empty() && field[0] == '-';
  if (is_negative) field.remove_prefix(1);  // no number here begins with a +, as in TensorFlow
  if (field.empty()) return false;
  // counted downwards, where there is one number more
  T sum = 0;
  for (const char c : field) {
    if (c < '0' || c > '9') return false;
    const T digit = static_cast<T>(c - '0');
    if (sum < (std::numeric_limits<T>::min() + digit) / 10) return false;
    sum = static_cast<T>(sum * 10 - digit);
  }
  if (!is_negative && sum == std::numeric_limits<T>::min()) return false;
  *value = is_negative ? sum : static_cast<T>(-sum);
  return true;
}

// Plain decimal numbers whose digits and power of ten are exact as doubles, so that one operation
// rounds once. FALSE: another way must be taken.
bool parse_exact(std::string_view field, double* value) {
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const bool is_negative = !field.empty() && field[0] == '-';
  if (is_negative) field.remove_prefix(1);
  if (field.empty() || field.size() > 19) return false;
  uint64_t digits = 0;
  size_t decimals = 0, count = 0;
  bool has_point = false;
  for (const char c : field) {
    if (c == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (c < '0' || c > '9') return false;
    digits = digits * 10 + static_cast<uint64_t>(c - '0');
    decimals += has_point;
    ++count;
  }
  if (count == 0 || digits > (uint64_t{1} << 53)) return false;
  const double x = static_cast<double>(digits) / kPowers[decimals];
  *value = is_negative ? -x : x;
  return true;
}

// By the C library: in the program's locale, which R keeps at "C" for numbers.
template <typename T>
bool parse_by_library(std::string_view field, T* value, T (*parse)(const char*, char**)) {
  char text[128];
  if (field.empty() || field.size() >= sizeof text) return false;
  // what only C's library takes for a number
  if (field.find_first_of("xXpP(") != std::string_view::npos) return false;
  std::memcpy(text, field.data(), field.size());
  text[field.size()] = '\0';
  char* end = nullptr;
  *value = parse(text, &end);
  return end == text + field.size();
}

}  // namespace

bool parse_field(std::string_view field, int32_t* value) { return parse_whole(field, value); }
bool parse_field(std::string_view field, int64_t* value) { return parse_whole(field, value); }

bool parse_field(std::string_view field, double* value) {
  field = trimmed(field);
  return parse_exact(field, value) || parse_by_library<double>(field, value, std::strtod);
}

bool parse_field(std::string_view field, float* value) {
  field = trimmed(field);
  double exact;
  if (parse_exact(field, &exact)) {
    // rounding twice goes wrong only where the first result lies midway between two floats
    uint64_t bits;
    std::memcpy(&bits, &exact, sizeof bits);
    constexpr uint64_t kMidway = uint64_t{1} << 28, kBelow = (uint64_t{1} << 29) - 1;
    const bool is_normal = std::fabs(exact) >= 1e-30 && std::fabs(exact) <= 1e30;
    if ((is_normal && (bits & kBelow) != kMidway) || exact == 0) {
      *value = static_cast<float>(exact);
      return true;
    }
  }
  return parse_by_library<float>(field, value, std::strtof);
}

}  // namespace runhooks
