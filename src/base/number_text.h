// Reads and formats numbers with a decimal point in every locale.
#pragma once

#include <string>

namespace runhooks {

// Like strtod() and strtof(); `end` may be NULL.
double read_double(const char* text, char** end);
float read_float(const char* text, char** end);

// Like sprintf() in the C locale.
#if defined(__GNUC__) && !defined(_WIN32)  // on Windows the format dialect differs from GCC's check
__attribute__((format(printf, 1, 2)))
#endif
std::string
format_text(const char* format, ...);

}  // namespace runhooks
