#include "io/formats/csv_reader.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/number_text.h"
#include "base/platform.h"

#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>
#define RUNHOOKS_CSV_BY_32 1
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace runhooks {

namespace {

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

// Finds the ends of unquoted fields: delimiters, line ends, quotes and the end of the text. `quote`
// equals the delimiter if the format has no quotes. Scans a block of characters per step,
// independently of field boundaries.
class Stops {
 public:
  Stops(std::string_view text, char delim, char quote)
      : text_(text), delim_(delim), quote_(quote) {}
  void go_to(size_t at) {
    block_ = at;
    look();
  }
  size_t next() {
    while (found_ == 0) {
      if (block_ + kBlock > text_.size()) return next_in_tail();
      block_ += kBlock;
      look();
    }
    const size_t at = block_ + static_cast<size_t>(__builtin_ctz(found_));
    found_ &= found_ - 1;
    return at;
  }

 private:
  bool is_stop(char c) const { return c == delim_ || c == quote_ || c == '\n' || c == '\r'; }
  size_t next_in_tail() {
    while (block_ < text_.size() && !is_stop(text_[block_])) ++block_;
    return block_ < text_.size() ? block_++ : block_;
  }
  static constexpr size_t kBlock = 32;
  void look() {
    found_ = 0;
    if (block_ + kBlock > text_.size()) return;
    const char* at = text_.data() + block_;
#if defined(RUNHOOKS_CSV_BY_32) || defined(__aarch64__)
    if (by_vectors_) {
      found_ = delimiter_mask(at) | delimiter_mask(at + 16) << 16;
      return;
    }
#endif
    for (size_t i = 0; i < kBlock; ++i) found_ |= static_cast<unsigned>(is_stop(at[i])) << i;
  }
#if defined(RUNHOOKS_CSV_BY_32) || defined(__aarch64__)
  const bool by_vectors_ = feature_enabled(SystemFeature::kVectors);
  unsigned delimiter_mask(const char* part) const {
#ifdef RUNHOOKS_CSV_BY_32
    const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(part));
    const auto are = [&all](char c) { return _mm_cmpeq_epi8(all, _mm_set1_epi8(c)); };
    return static_cast<unsigned>(_mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(are(delim_), are(quote_)), _mm_or_si128(are('\n'), are('\r')))));
#else
    const uint8x16_t all = vld1q_u8(reinterpret_cast<const uint8_t*>(part));
    const auto are = [&all](char c) { return vceqq_u8(all, vdupq_n_u8(static_cast<uint8_t>(c))); };
    const uint8x16_t stops =
        vorrq_u8(vorrq_u8(are(delim_), are(quote_)), vorrq_u8(are('\n'), are('\r')));
    // Keep one distinct bit per lane of eight; their sum is the mask.
    const uint8x16_t bits = vandq_u8(stops, vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201u)));
    return vaddv_u8(vget_low_u8(bits)) | unsigned{vaddv_u8(vget_high_u8(bits))} << 8;
#endif
  }
#endif

  std::string_view text_;
  char delim_, quote_;
  size_t block_ = 0;
  unsigned found_ = 0;  // stops of the block that next() has not returned yet
};

}  // namespace

CsvSplit CsvSplitter::split(std::string_view text, bool is_all) {
  fields_.clear();
  unescaped_used_ = size_ = 0;
  lines_ = 1;
  CsvSplit result = CsvSplit::kRecord;
  Stops stops(text, format_.delim, format_.has_quotes ? '"' : format_.delim);
  stops.go_to(0);
  for (;;) {
    if (format_.has_quotes && size_ < text.size() && text[size_] == '"') {
      if (!quoted(text, is_all, &result)) return result;
      stops.go_to(size_ + (size_ < text.size() ? 1 : 0));
    } else {
      const size_t begin = size_;
      size_ = stops.next();
      if (format_.has_quotes && size_ < text.size() && text[size_] == '"') {
        return CsvSplit::kStrayQuote;
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

namespace {

// The number of line ends, or -1 if the text has quotes and the format uses them.
int64_t lines_without_quotes(std::string_view text, const CsvFormat& format) {
  int64_t lines = 0;
  size_t at = 0;
  bool has_quotes = false;
#ifdef RUNHOOKS_CSV_BY_32
  constexpr size_t kBlock = 16, kMaxBlocks = 255;  // a byte can count up to 255
  const __m128i end = _mm_set1_epi8('\n'), quote = _mm_set1_epi8('"'), zero = _mm_setzero_si128();
  __m128i quotes = zero;
  while (at + kBlock <= text.size()) {
    __m128i count = zero;
    for (size_t i = 0; i < kMaxBlocks && at + kBlock <= text.size(); ++i, at += kBlock) {
      const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
      count = _mm_sub_epi8(count, _mm_cmpeq_epi8(part, end));
      quotes = _mm_or_si128(quotes, _mm_cmpeq_epi8(part, quote));
    }
    const __m128i sums = _mm_sad_epu8(count, zero);
    lines += _mm_extract_epi16(sums, 0) + _mm_extract_epi16(sums, 4);
  }
  has_quotes = _mm_movemask_epi8(quotes) != 0;
#endif
  for (; at < text.size(); ++at) {
    lines += text[at] == '\n';
    has_quotes |= text[at] == '"';
  }
  return has_quotes && format.has_quotes ? -1 : lines;
}

}  // namespace

int64_t CsvCutter::take(size_t end, int64_t lines, std::string_view* taken) {
  *taken = text_.substr(0, end);
  text_.remove_prefix(end);
  return lines;
}

int64_t CsvCutter::next(size_t bytes, int64_t n, std::string_view* lines) {
  const size_t far = bytes < text_.size() ? text_.find('\n', bytes) : std::string_view::npos;
  const size_t line_end = far == std::string_view::npos ? text_.rfind('\n') : far;
  if (line_end == std::string_view::npos) return 0;
  const size_t end = line_end + 1;
  const int64_t plain = lines_without_quotes(text_.substr(0, end), format_);
  if (plain >= 0 && plain <= n) return take(end, plain, lines);
  // Line by line: a newline ends a record only after an even number of quotes.
  Stops stops(text_.substr(0, end), '\n', format_.has_quotes ? '"' : '\n');
  stops.go_to(0);
  int64_t found = 0;
  size_t whole = 0;
  bool is_quoted = false;
  for (size_t at = stops.next(); found < n && at < end; at = stops.next()) {
    is_quoted ^= text_[at] == '"';
    if (is_quoted || text_[at] != '\n') continue;
    ++found;
    whole = at + 1;
  }
  return take(whole, found, lines);
}

CsvReader::CsvReader(const ByteSource& source, Compression compression, const CsvFormat& format)
    : bytes_(source, compression), splitter_(format) {
  bytes_.begin_text();
}

bool CsvReader::next() {
  bool is_all = false;
  line_ = lines_ + 1;
  if (bytes_.view().empty() && !bytes_.read_more()) return false;
  CsvSplit split = splitter_.split(bytes_.view(), is_all);
  while (split == CsvSplit::kCutOff && !is_all) {
    is_all = !bytes_.read_more();
    split = splitter_.split(bytes_.view(), is_all);
  }
  if (split != CsvSplit::kRecord) throw_quotes(split);
  bytes_.take(splitter_.size());  // the fields stay valid until more is read
  lines_ += splitter_.lines();
  return true;
}

void CsvReader::throw_quotes(CsvSplit split) {
  const char* why = "a quote is not closed";
  if (split == CsvSplit::kStrayQuote) why = "a quote inside an unquoted field";
  if (split == CsvSplit::kAfterQuote) why = "a quote inside a quoted field is not doubled";
  fail(Code::kDataLoss, "Line ", line_, " of '", path(), "', field ",
       static_cast<unsigned long>(splitter_.field_number() +
                                  (split == CsvSplit::kAfterQuote ? 0 : 1)),
       ": ", why, ".");
}

bool CsvReader::skip() {
  if (lines_ >= line_) return true;  // only a field value was invalid; the record is consumed
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
  if (is_negative) field.remove_prefix(1);  // TensorFlow accepts no leading +
  if (field.empty()) return false;
  // Accumulates the negative value, because its range is larger by one.
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

// Parses a decimal number if its digits and its power of ten are exact doubles, so that a single
// division rounds only once. FALSE if the slow path is needed.
bool parse_exact(std::string_view field, double* value) {
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char *at = field.data(), *const end = at + field.size();
  const bool is_negative = at != end && *at == '-';
  at += is_negative;
  if (end - at > 19) return false;
  uint64_t digits = 0;
  const auto take_digits = [&] {
    const char* const first = at;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) {
      digits = digits * 10 + static_cast<uint64_t>(*at - '0');
    }
    return at - first;
  };
  int64_t count = take_digits(), decimals = 0;
  if (at != end && *at == '.') {
    ++at;
    decimals = take_digits();
    count += decimals;
  }
  if (at != end || count == 0 || digits > (uint64_t{1} << 53)) return false;
  const double x = static_cast<double>(digits) / kPowers[decimals];
  *value = is_negative ? -x : x;
  return true;
}

template <typename T>
bool parse_by_library(std::string_view field, T* value, T (*parse)(const char*, char**)) {
  char text[128];
  if (field.empty() || field.size() >= sizeof text) return false;
  // Excludes formats that only the C library accepts, such as hexadecimal numbers.
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
  return parse_exact(field, value) || parse_by_library<double>(field, value, read_double);
}

bool parse_field(std::string_view field, float* value) {
  field = trimmed(field);
  double exact;
  if (parse_exact(field, &exact)) {
    // Rounding twice is wrong only if the double is exactly midway between two floats.
    uint64_t bits;
    std::memcpy(&bits, &exact, sizeof bits);
    constexpr uint64_t kMidway = uint64_t{1} << 28, kBelow = (uint64_t{1} << 29) - 1;
    const bool is_normal = std::fabs(exact) >= 1e-30 && std::fabs(exact) <= 1e30;
    if ((is_normal && (bits & kBelow) != kMidway) || exact == 0) {
      *value = static_cast<float>(exact);
      return true;
    }
  }
  return parse_by_library<float>(field, value, read_float);
}

}  // namespace runhooks
