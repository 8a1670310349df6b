// What lives here: numbers read from text and written to it with a decimal point in every locale.
// Who may use it: everybody; strtod(), printf() and their like follow LC_NUMERIC.
// What it must not know: what the numbers are for.
#pragma once

#include <string>

namespace runhooks {

// strtod() and strtof(), to the last bit; `end` may be NULL.
double read_double(const char* text, char** end);
float read_float(const char* text, char** end);

// The text that printf() gives, to the last character.
#if defined(__GNUC__) && !defined(_WIN32)  // there printf()'s words are not those of GCC's check
__attribute__((format(printf, 1, 2)))
#endif
std::string
format_text(const char* format, ...);

}  // namespace runhooks
