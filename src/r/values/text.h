// Conversion of strings to R as UTF-8 in every locale, and from R in any encoding.
#pragma once

#include <string>
#include <string_view>

#include "r/values/rcpp.h"

namespace runhooks {
namespace r {

// --- To R. Results are not protected. Rcpp::wrap() and Rcpp::CharacterVector also produce UTF-8.

// A CHARSXP of the text up to the first zero byte.
SEXP utf8_element(const char* text);
inline SEXP utf8_element(const std::string& text) { return utf8_element(text.c_str()); }
// A CHARSXP of data. Throws on a zero byte, which R strings cannot contain.
SEXP text_element(const std::string& text);
SEXP text_to_r(const std::string& text);

// A raw vector with these bytes.
SEXP raw_to_r(const std::string& bytes);

// --- From R

// The bytes of a raw vector.
std::string_view raw_bytes(SEXP raw);
// Throws on strings marked as bytes, for which R would longjmp over C++ frames.
const char* utf8_of(SEXP element);
// Like utf8_of(), but returns the bytes of a string that is marked as bytes.
std::string_view utf8_or_bytes_of(SEXP element);
// Compares with ASCII text, which is the same in all encodings of R.
bool equals_ascii(SEXP element, const char* word);

}  // namespace r
}  // namespace runhooks
