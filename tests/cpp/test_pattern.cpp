// Regular expressions match like RE2 in TensorFlow, in linear time and without deep recursion.
#include <chrono>
#include <fstream>

#include "base/pattern.h"
#include "base/unicode.h"
#include "test.h"

using namespace runhooks;

namespace {

// Replaces escapes by bytes: "%41" is the byte 0x41.
std::string read_bytes(const std::string& written) {
  std::string bytes;
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i] != '%') {
      bytes += written[i];
      continue;
    }
    bytes += static_cast<char>(std::stoi(written.substr(i + 1, 2), nullptr, 16));
    i += 2;
  }
  return bytes;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (char c : line) {
    if (c == '\t') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) field = read_bytes(field);
  return fields;
}

std::string error_of(const std::string& pattern) {
  try {
    Pattern made(pattern);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

// Returns the replacement that tests/golden/make_patterns.py uses, with up to two groups.
std::string rewrite_for(const Pattern& pattern) {
  for (const char* rewrite : {"<\\0|\\1|\\2>", "<\\0|\\1>"}) {
    try {
      pattern.check_rewrite(rewrite);
      return rewrite;
    } catch (const Error&) {
      continue;
    }
  }
  return "<\\0>";
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

double seconds_of(const Pattern& pattern, const std::string& text) {
  double shortest = 1e9;
  for (int round = 0; round < 3; ++round) {
    const auto start = std::chrono::steady_clock::now();
    pattern.is_all_of(text);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    shortest = std::min(shortest, time.count());
  }
  return shortest;
}

}  // namespace

TEST(pattern_matches_like_tensorflow) {
  const std::string path = runhooks_test::golden_folder() + "/patterns.tsv";
  std::ifstream file(path);
  int lines = 0, errors = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const std::vector<std::string> fields = fields_of(line);
    const std::string& text = fields[0];
    if (fields.size() == 2) {
      ++errors;
      CHECK_EQ(error_of(text), "Invalid pattern: " + text + ", error: " + fields[1] + ".");
      continue;
    }
    CHECK_EQ(error_of(text), "");
    const Pattern pattern(text);
    const std::string rewrite = rewrite_for(pattern);
    const std::string where = str_cat(path, ", line ", lines + 1, ": ");
    CHECK_EQ(where + (pattern.is_all_of(fields[1]) ? "TRUE" : "FALSE"), where + fields[2]);
    CHECK_EQ(where + pattern.replace_first(fields[1], rewrite), where + fields[3]);
    CHECK_EQ(where + pattern.replace_all(fields[1], rewrite), where + fields[4]);
    CHECK_EQ(pattern.is_in(fields[1]), pattern.replace_first(fields[1], "<") != fields[1]);
  }
  CHECK(lines > 1000);
  CHECK(errors > 30);
}

TEST(pattern_supports_long_and_hostile_texts) {
  // std::regex recurses for each character, which overflows the stack, and is exponential for
  // nested repeats.
  const std::string letters(50000, 'a');
  CHECK(Pattern("(a|b)*").is_all_of(letters));
  CHECK(Pattern("(.*)*").is_all_of(letters));
  CHECK_EQ(Pattern("(?s)(a|.)*b").replace_first(letters, "x"), letters);
  CHECK(!Pattern("^(a+)+$").is_in(std::string(40, 'a') + "!"));
  CHECK(!Pattern("(a?){30}a{30}").is_all_of(std::string(29, 'a')));
}

TEST(pattern_time_is_linear_in_the_text) {
  const Pattern pattern("(a|aa|a*)*(b|c)");
  const double short_time = seconds_of(pattern, std::string(20000, 'a'));
  const double long_time = seconds_of(pattern, std::string(160000, 'a'));
  CHECK(long_time < 30 * short_time);  // quadratic time would take 64 times as long
}

TEST(pattern_limits_are_reported) {
  CHECK_EQ(error_of("((a{100}){100})"),
           "Invalid pattern: ((a{100}){100}), error: invalid repetition size: {100}.");
  CHECK_EQ(error_of(repeated("(", 5000) + repeated(")", 5000)),
           "Invalid pattern: groups are nested more than 1000 deep.");
  CHECK_EQ(error_of(repeated("(", 900) + "a" + repeated(")", 900)), "");
  CHECK_EQ(error_of(repeated("(abc{0,1000})", 200)),
           "Invalid pattern: pattern too large - compile failed.");
  CHECK_EQ(error_of("\xff"), "Invalid pattern: \xff, error: invalid UTF-8.");
}

TEST(pattern_rewrites_require_existing_groups) {
  const Pattern pattern("(a)(b)?");
  CHECK_EQ(pattern.replace_all("abac", "[\\2\\1\\\\]"), "[ba\\][a\\]c");
  for (const char* rewrite : {"\\3", "\\x", "\\"}) {
    bool is_refused = false;
    try {
      pattern.replace_all("zzz", rewrite);
    } catch (const Error& error) {
      is_refused = error.code() == Code::kInvalidArgument;
    }
    CHECK(is_refused);
  }
}

TEST(pattern_unicode_classes_and_cases) {
  CHECK(Pattern("\\p{Greek}+").is_all_of("\xCE\xB1\xCE\x93"));
  CHECK(Pattern("\\p{Han}\\p{Lo}").is_all_of("\xE5\xAD\x97\xE5\xAD\x97"));
  CHECK(!Pattern("\\p{Lu}").is_in("a1_"));
  // Matches the Kelvin sign, and the German sharp s in both cases.
  CHECK(Pattern("(?i)kK").is_all_of("\xE2\x84\xAAk"));
  CHECK(Pattern("(?i)\xC3\x9F").is_all_of("\xE1\xBA\x9E"));
  RuneSet set;
  CHECK(find_unicode_class("N", &set) && set.has('7') && !set.has('a'));
  CHECK(!find_unicode_class("Klingon", &set));
  // Case folding and double negation do not change a class.
  RuneSet twice = set;
  twice.negate();
  twice.negate();
  CHECK(twice.ranges() == set.ranges());
}

TEST(pattern_searches_are_independent) {
  // Searches with a pattern during another search with it, and with a copy of it.
  const Pattern pattern("(a+)b");
  const Pattern copy = pattern;
  CHECK_EQ(copy.replace_all(pattern.replace_all("aabab", "<\\1>ab"), "\\1"), "<aa>a<a>a");
}
