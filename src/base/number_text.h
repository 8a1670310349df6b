// Numbers read from text and written to it with a decimal point in every locale.
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
