#include "base/number_text.h"

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace runhooks {

namespace {

// Sets the numeric locale of this thread to "C". Concurrent setlocale() calls in other threads do
// not affect it.
#ifdef _WIN32
class CLocaleScope {
 public:
  CLocaleScope() : previous_scope_(_configthreadlocale(_ENABLE_PER_THREAD_LOCALE)) {
    const char* locale = std::setlocale(LC_NUMERIC, nullptr);
    if (locale) previous_ = locale;
    std::setlocale(LC_NUMERIC, "C");
  }
  ~CLocaleScope() {
    std::setlocale(LC_NUMERIC, previous_.c_str());
    _configthreadlocale(previous_scope_);
  }
  CLocaleScope(const CLocaleScope&) = delete;
  CLocaleScope& operator=(const CLocaleScope&) = delete;

 private:
  int previous_scope_;
  std::string previous_ = "C";
};
#else
class CLocaleScope {
 public:
  CLocaleScope() : previous_(uselocale(c_locale())) {}
  ~CLocaleScope() { uselocale(previous_); }
  CLocaleScope(const CLocaleScope&) = delete;
  CLocaleScope& operator=(const CLocaleScope&) = delete;

 private:
  static locale_t c_locale() {
    static const locale_t c_locale_handle =
        newlocale(LC_ALL_MASK, "C", static_cast<locale_t>(nullptr));
    return c_locale_handle;
  }
  locale_t previous_;
};
#endif

}  // namespace

double read_double(const char* text, char** end) {
  const CLocaleScope scope;
  return std::strtod(text, end);
}

float read_float(const char* text, char** end) {
  const CLocaleScope scope;
  return std::strtof(text, end);
}

std::string format_text(const char* format, ...) {
  const CLocaleScope scope;
  std::va_list values, values_copy;
  va_start(values, format);
  va_copy(values_copy, values);
  char buffer[128];
  const int length = std::vsnprintf(buffer, sizeof buffer, format, values);
  va_end(values);
  std::string text;
  if (length >= 0 && static_cast<size_t>(length) < sizeof buffer) {
    text.assign(buffer, static_cast<size_t>(length));
  } else if (length >= 0) {
    text.resize(static_cast<size_t>(length) + 1);
    std::vsnprintf(&text[0], text.size(), format, values_copy);
    text.pop_back();
  }
  va_end(values_copy);
  return text;
}

}  // namespace runhooks
