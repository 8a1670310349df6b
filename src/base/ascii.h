// ASCII character classes and case conversion that do not depend on the locale, unlike <cctype>.
#pragma once

#include <algorithm>
#include <string>

namespace runhooks {

constexpr bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_ascii_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_ascii_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_ascii_alpha(char c) { return is_ascii_upper(c) || is_ascii_lower(c); }
constexpr bool is_ascii_alnum(char c) { return is_ascii_alpha(c) || is_ascii_digit(c); }

// Returns the value of a hexadecimal digit, or 16 for any other character.
constexpr int hex_digit_value(char c) {
  if (is_ascii_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

// Leave all other bytes unchanged, so UTF-8 text stays valid.
constexpr char ascii_lower(char c) { return is_ascii_upper(c) ? static_cast<char>(c + 32) : c; }
constexpr char ascii_upper(char c) { return is_ascii_lower(c) ? static_cast<char>(c - 32) : c; }

inline bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}
inline std::string ascii_lower(std::string text) {
  for (char& c : text) c = ascii_lower(c);
  return text;
}
inline std::string ascii_upper(std::string text) {
  for (char& c : text) c = ascii_upper(c);
  return text;
}

}  // namespace runhooks
