// Text and numbers do not depend on the C locale.
#include <clocale>

#include "base/ascii.h"
#include "base/number_text.h"
#include "base/split_text.h"
#include "io/formats/csv_reader.h"
#include "test.h"

using namespace runhooks;

namespace {

// Sets the locale for a scope, if the machine has it.
class LocaleScope {
 public:
  explicit LocaleScope(const char* name) : before_(std::setlocale(LC_ALL, nullptr)) {
    std::setlocale(LC_ALL, name);
  }
  ~LocaleScope() { std::setlocale(LC_ALL, before_.c_str()); }

 private:
  std::string before_;
};

const char* const kLocales[] = {"C", "tr_TR.UTF-8", "de_DE.UTF-8", "de_DE.ISO-8859-1",
                                "ja_JP.eucJP"};

}  // namespace

TEST(only_ascii_letters_have_case_and_class_in_every_locale) {
  for (const char* name : kLocales) {
    const LocaleScope scope(name);
    int letters = 0, digits = 0, changed = 0;
    for (int i = 0; i < 256; ++i) {
      const auto c = static_cast<char>(i);
      letters += is_ascii_alpha(c);
      digits += is_ascii_digit(c);
      changed += (ascii_lower(c) != c) + (ascii_upper(c) != c);
      CHECK_EQ(is_ascii_alnum(c), is_ascii_alpha(c) || is_ascii_digit(c));
    }
    CHECK_EQ(letters, 52);
    CHECK_EQ(digits, 10);
    CHECK_EQ(changed, 52);
    CHECK_EQ(ascii_lower(std::string("DT_INT32 \xC4\xB0\xDC")), "dt_int32 \xC4\xB0\xDC");
    CHECK_EQ(ascii_upper(std::string("valid i")), "VALID I");
  }
}

TEST(numbers_use_a_decimal_point_in_every_locale) {
  for (const char* name : kLocales) {
    const LocaleScope scope(name);
    char* end = nullptr;
    CHECK_EQ(read_double("0.30000000000000004441 x", &end), 0.30000000000000004);
    CHECK_EQ(std::string(end), " x");
    CHECK_EQ(read_float("1.5e-3", nullptr), 1.5e-3f);
    CHECK_EQ(read_double("1,5", &end), 1.0);
    CHECK_EQ(std::string(end), ",5");
    CHECK_EQ(format_text("%.3f %g %05d %s", 1.5, 1e-7, 42, "x"), "1.500 1e-07 00042 x");
    CHECK_EQ(format_text("%200.1f", 0.5), std::string(197, ' ') + "0.5");
    CHECK_EQ(str_cat(0.1, " ", 2.5f), "0.1 2.5");
    double field = 0;
    CHECK(parse_field("1234567890.123456789012345", &field));
    CHECK_EQ(field, 1234567890.1234567);
    CHECK(!parse_field("1,5", &field));
  }
}

TEST(text_is_split_at_separators) {
  CHECK_EQ(str_join(split_text("a,b,,c", ','), "|"), "a|b||c");
  CHECK_EQ(split_text("a,b,", ',').size(), size_t{2});
  CHECK_EQ(split_text("", ',').size(), size_t{0});
  CHECK_EQ(trimmed(" \na b \n"), "a b");
  CHECK_EQ(trimmed(" \n"), "");
}
