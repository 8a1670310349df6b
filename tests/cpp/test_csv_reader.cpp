// Compares records of delimited text with a splitter that reads one character at a time.
#include <random>

#include "base/platform.h"
#include "io/formats/csv_reader.h"
#include "test.h"

using namespace runhooks;

namespace {

struct Split {
  CsvSplit result = CsvSplit::kRecord;
  std::vector<std::string> fields;
  size_t size = 0;  // bytes of the record, including its line end
};

// Splits off one record by the rules that io/formats/csv_reader.h describes. Quotes are special
// only if `format.has_quotes` is true.
Split split_slowly(const std::string& text, const CsvFormat& format, bool is_end_of_file) {
  Split split;
  size_t at = 0;
  const auto fail = [&split](CsvSplit result) {
    split.result = result;
    return split;
  };
  const auto is_end = [&](size_t i) { return text[i] == '\n' || text[i] == '\r'; };
  for (;; ++at) {
    std::string field;
    if (format.has_quotes && at < text.size() && text[at] == '"') {
      for (++at;; ++at) {
        if (at == text.size() || (at + 1 == text.size() && text[at] == '"' && !is_end_of_file)) {
          return fail(CsvSplit::kIncompleteRecord);
        }
        if (text[at] != '"') {
          field += text[at];
        } else if (at + 1 < text.size() && text[at + 1] == '"') {
          field += text[at++];
        } else {
          break;
        }
      }
      ++at;
      if (at < text.size() && text[at] != format.delim && !is_end(at)) {
        split.fields.push_back(field);
        return fail(CsvSplit::kTextAfterQuote);
      }
    } else {
      for (; at < text.size() && text[at] != format.delim && !is_end(at); ++at) {
        if (format.has_quotes && text[at] == '"') return fail(CsvSplit::kStrayQuote);
        field += text[at];
      }
      if (at == text.size() && !is_end_of_file) return fail(CsvSplit::kIncompleteRecord);
    }
    split.fields.push_back(field);
    if (at == text.size() || text[at] != format.delim) break;
  }
  if (at < text.size() && text[at] == '\r') {
    if (at + 1 == text.size() && !is_end_of_file) return fail(CsvSplit::kIncompleteRecord);
    if (at + 1 < text.size() && text[at + 1] == '\n') ++at;
  }
  split.size = at + (at < text.size() ? 1 : 0);
  return split;
}

}  // namespace

TEST(csv_records_match_a_slow_splitter) {
  std::mt19937 random(7);
  const auto below = [&random](size_t n) { return random() % n; };
  CsvFormat plain;
  plain.has_quotes = false;
  CsvFormat tabs;
  tabs.delim = '\t';
  int records = 0, num_invalid = 0;
  for (int round = 0; round < 40000; ++round) {
    const DisabledFeatures without(round % 4 < 2 ? "" : "vectors");
    // Writes fields around the block sizes of 16 and 32, with occasional special characters.
    std::string text;
    const size_t size = below(round % 2 == 0 ? 150 : 24), every = 2 + below(12);
    for (size_t i = 0; i < size; ++i) text += below(every) == 0 ? ",,\"\n\r\t"[below(6)] : 'a';
    const CsvFormat format = std::vector<CsvFormat>{CsvFormat(), plain, tabs}[below(3)];
    for (const bool is_end_of_file : {false, true}) {
      // Copies the text to memory of the exact size, so that a sanitizer detects reads beyond the
      // end.
      const std::vector<char> exact(text.begin(), text.end());
      CsvSplitter splitter(format);
      const CsvSplit result =
          splitter.split(std::string_view(exact.data(), exact.size()), is_end_of_file);
      const Split expected = split_slowly(text, format, is_end_of_file);
      CHECK(result == expected.result);
      if (result == CsvSplit::kIncompleteRecord) continue;
      const std::vector<std::string> fields(splitter.fields().begin(), splitter.fields().end());
      CHECK(fields == expected.fields);
      if (result == CsvSplit::kRecord) CHECK_EQ(splitter.size(), expected.size);
      ++(result == CsvSplit::kRecord ? records : num_invalid);
    }
  }
  CHECK(records > 10000 && num_invalid > 1000);
}

TEST(csv_fields_are_numbers_like_in_the_c_library) {
  std::mt19937 random(11);
  const auto below = [&random](size_t n) { return random() % n; };
  int numbers = 0;
  for (int round = 0; round < 100000; ++round) {
    std::string text;
    const size_t size = below(round % 10 == 0 ? 24 : 9);
    for (size_t i = 0; i < size; ++i) text += "01234567890123456789.-+e "[below(25)];
    double value = 0;
    const bool is_number = parse_field(text, &value);
    char* end = nullptr;
    const double expected = std::strtod(text.c_str(), &end);
    while (*end == ' ') ++end;
    const bool is_expected =
        *end == '\0' && end != text.c_str() && text.find_first_not_of(' ') != std::string::npos;
    CHECK_EQ(is_number, is_expected);
    if (is_number && is_expected) CHECK(value == expected);
    numbers += is_number;
  }
  CHECK(numbers > 10000);
}
