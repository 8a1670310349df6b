#include "io/formats/csv_reader.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/bit_cast.h"
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

// Finds the places that can end an unquoted field: delimiters, line ends, quotes and the end of the
// text. Scans a block of characters per step, so short fields are fast. If the format has no
// quotes, callers pass the delimiter as `quote`.
class StopFinder {
 public:
  StopFinder(std::string_view text, char delim, char quote)
      : text_(text), delim_(delim), quote_(quote) {}
  void start_at(size_t at) {
    block_ = at;
    scan_block();
  }
  size_t next() {
    while (remaining_stops_ == 0) {
      if (block_ + kBlock > text_.size()) return next_in_tail();
      block_ += kBlock;
      scan_block();
    }
    const size_t at = block_ + static_cast<size_t>(__builtin_ctz(remaining_stops_));
    remaining_stops_ &= remaining_stops_ - 1;
    return at;
  }

 private:
  bool is_stop(char c) const { return c == delim_ || c == quote_ || c == '\n' || c == '\r'; }
  size_t next_in_tail() {
    while (block_ < text_.size() && !is_stop(text_[block_])) ++block_;
    return block_ < text_.size() ? block_++ : block_;
  }
  static constexpr size_t kBlock = 32;
  void scan_block() {
    remaining_stops_ = 0;
    if (block_ + kBlock > text_.size()) return;
    const char* at = text_.data() + block_;
#if defined(RUNHOOKS_CSV_BY_32) || defined(__aarch64__)
    if (uses_vectors_) {
      remaining_stops_ = delimiter_mask(at) | delimiter_mask(at + 16) << 16;
      return;
    }
#endif
    for (size_t i = 0; i < kBlock; ++i)
      remaining_stops_ |= static_cast<unsigned>(is_stop(at[i])) << i;
  }
#if defined(RUNHOOKS_CSV_BY_32) || defined(__aarch64__)
  const bool uses_vectors_ = feature_enabled(SystemFeature::kVectors);
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
    // `stops` has 255 in each byte that matches, else 0. Keeps another bit in each of eight bytes,
    // so that their sum is a bit mask.
    const uint8x16_t bits = vandq_u8(stops, vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201u)));
    return vaddv_u8(vget_low_u8(bits)) | unsigned{vaddv_u8(vget_high_u8(bits))} << 8;
#endif
  }
#endif

  std::string_view text_;
  char delim_, quote_;
  size_t block_ = 0;
  unsigned remaining_stops_ = 0;  // bit mask: positions in the block that next() has not returned
};

}  // namespace

CsvSplit CsvSplitter::split(std::string_view text, bool is_end_of_file) {
  fields_.clear();
  num_unescaped_ = size_ = 0;
  lines_ = 1;
  StopFinder stop_finder(text, format_.delim, format_.has_quotes ? '"' : format_.delim);
  stop_finder.start_at(0);
  for (;;) {
    if (format_.has_quotes && size_ < text.size() && text[size_] == '"') {
      const CsvSplit result = split_quoted_field(text, is_end_of_file);
      if (result != CsvSplit::kRecord) return result;
      stop_finder.start_at(size_ + (size_ < text.size() ? 1 : 0));
    } else {
      const size_t begin = size_;
      size_ = stop_finder.next();
      if (format_.has_quotes && size_ < text.size() && text[size_] == '"') {
        return CsvSplit::kStrayQuote;
      }
      if (size_ == text.size() && !is_end_of_file) return CsvSplit::kIncompleteRecord;
      fields_.push_back(text.substr(begin, size_ - begin));
    }
    if (size_ < text.size() && text[size_] == format_.delim) {
      ++size_;
      continue;
    }
    return end_record(text, is_end_of_file);
  }
}

CsvSplit CsvSplitter::split_quoted_field(std::string_view text, bool is_end_of_file) {
  const size_t begin = ++size_;
  std::string* unescaped = nullptr;
  for (size_t from = begin;;) {
    const size_t quote = text.find('"', size_);
    const bool is_complete =
        quote != std::string_view::npos && (quote + 1 < text.size() || is_end_of_file);
    if (!is_complete) return CsvSplit::kIncompleteRecord;
    size_ = quote + 1;
    const bool is_escape = size_ < text.size() && text[size_] == '"';
    if (is_escape || unescaped) {
      if (!unescaped) {
        if (num_unescaped_ >= unescaped_.size()) unescaped_.emplace_back();
        unescaped = &unescaped_[num_unescaped_++];
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
  return is_end ? CsvSplit::kRecord : CsvSplit::kTextAfterQuote;
}

CsvSplit CsvSplitter::end_record(std::string_view text, bool is_end_of_file) {
  if (size_ < text.size() && text[size_] == '\r') {
    if (size_ + 1 == text.size() && !is_end_of_file) return CsvSplit::kIncompleteRecord;  // a \n may follow
    if (size_ + 1 < text.size() && text[size_ + 1] == '\n') ++size_;
  }
  if (size_ < text.size()) ++size_;
  return CsvSplit::kRecord;
}

namespace {

// Returns the number of line ends, or -1 if the format has quotes and the text contains one.
int64_t count_lines_without_quotes(std::string_view text, const CsvFormat& format) {
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

int64_t CsvChunker::next(size_t bytes, int64_t n, std::string_view* lines) {
  const size_t next_line_end =
      bytes < text_.size() ? text_.find('\n', bytes) : std::string_view::npos;
  const size_t line_end =
      next_line_end == std::string_view::npos ? text_.rfind('\n') : next_line_end;
  if (line_end == std::string_view::npos) return 0;
  const size_t end = line_end + 1;
  size_t size = end;
  int64_t num_lines = count_lines_without_quotes(text_.substr(0, end), format_);
  if (num_lines < 0 || num_lines > n) {
    // Goes from line end to line end: one ends a record only after an even number of quotes.
    StopFinder stop_finder(text_.substr(0, end), '\n', format_.has_quotes ? '"' : '\n');
    stop_finder.start_at(0);
    num_lines = 0;
    size = 0;
    bool is_quoted = false;
    for (size_t at = stop_finder.next(); num_lines < n && at < end; at = stop_finder.next()) {
      is_quoted ^= text_[at] == '"';
      if (is_quoted || text_[at] != '\n') continue;
      ++num_lines;
      size = at + 1;
    }
  }
  *lines = text_.substr(0, size);
  text_.remove_prefix(size);
  return num_lines;
}

CsvReader::CsvReader(const ByteSource& source, Compression compression, const CsvFormat& format)
    : bytes_(source, compression), splitter_(format) {
  bytes_.skip_byte_order_mark();
}

bool CsvReader::next() {
  bool is_end_of_file = false;
  line_ = lines_ + 1;
  if (bytes_.view().empty() && !bytes_.read_more()) return false;
  CsvSplit split = splitter_.split(bytes_.view(), is_end_of_file);
  while (split == CsvSplit::kIncompleteRecord && !is_end_of_file) {
    is_end_of_file = !bytes_.read_more();
    split = splitter_.split(bytes_.view(), is_end_of_file);
  }
  if (split != CsvSplit::kRecord) throw_quotes(split);
  bytes_.take(splitter_.size());  // the fields stay valid until more is read
  lines_ += splitter_.lines();
  return true;
}

void CsvReader::throw_quotes(CsvSplit split) {
  const char* problem = "a quote is not closed";
  if (split == CsvSplit::kStrayQuote) problem = "a quote inside an unquoted field";
  if (split == CsvSplit::kTextAfterQuote) problem = "a quote inside a quoted field is not doubled";
  fail(Code::kDataLoss, "Line ", line_, " of '", path(), "', field ",
       static_cast<unsigned long>(splitter_.field_number() +
                                  (split == CsvSplit::kTextAfterQuote ? 0 : 1)),
       ": ", problem, ".");
}

bool CsvReader::skip() {
  if (lines_ >= line_) return true;  // next() has read the record; only a field was invalid
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

std::string_view trim_spaces(std::string_view field) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!field.empty() && is_space(field.front())) field.remove_prefix(1);
  while (!field.empty() && is_space(field.back())) field.remove_suffix(1);
  return field;
}

template <typename T>
bool parse_integer(std::string_view field, T* value) {
  field = trim_spaces(field);
  const bool is_negative = !field.empty() && field[0] == '-';
  if (is_negative) field.remove_prefix(1);  // TensorFlow accepts no leading +
  if (field.empty()) return false;
  // Computes the negative of the number, because the smallest integer has no positive counterpart.
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
bool parse_with_strtod(std::string_view field, T* value, T (*parse)(const char*, char**)) {
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

bool parse_field(std::string_view field, int32_t* value) { return parse_integer(field, value); }
bool parse_field(std::string_view field, int64_t* value) { return parse_integer(field, value); }

bool parse_field(std::string_view field, double* value) {
  field = trim_spaces(field);
  return parse_exact(field, value) || parse_with_strtod<double>(field, value, read_double);
}

bool parse_field(std::string_view field, float* value) {
  field = trim_spaces(field);
  double exact;
  if (parse_exact(field, &exact)) {
    // `exact` was rounded to a double. Rounding it again to a float is wrong only if the double is
    // midway between two floats.
    constexpr uint64_t kMidway = uint64_t{1} << 28, kDroppedBits = (uint64_t{1} << 29) - 1;
    const bool is_normal = std::fabs(exact) >= 1e-30 && std::fabs(exact) <= 1e30;
    if ((is_normal && (bit_cast<uint64_t>(exact) & kDroppedBits) != kMidway) || exact == 0) {
      *value = static_cast<float>(exact);
      return true;
    }
  }
  return parse_with_strtod<float>(field, value, read_float);
}

}  // namespace runhooks
