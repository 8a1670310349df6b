// Conversion of strings to R as UTF-8 in every locale, and from R in any encoding.
#pragma once

#include <string>
#include <string_view>

#include "r/values/rcpp.h"

namespace runhooks {
namespace r {

// --- To R. Results are not protected. Rcpp::wrap() and Rcpp::CharacterVector also produce UTF-8.

// Returns a CHARSXP of the text up to the first zero byte.
SEXP utf8_element(const char* text);
inline SEXP utf8_element(const std::string& text) { return utf8_element(text.c_str()); }
// Returns a CHARSXP of the whole text. Throws on a zero byte, which R strings cannot contain.
SEXP text_element(const std::string& text);
SEXP text_to_r(const std::string& text);

// Returns a raw vector with these bytes.
SEXP raw_to_r(const std::string& bytes);

// --- From R

// Returns the bytes of a raw vector.
std::string_view raw_bytes(SEXP raw);
// Returns the text of a CHARSXP in UTF-8. Throws for a string marked as bytes: R would longjmp.
const char* utf8_of(SEXP element);
// Like utf8_of(), but returns the bytes of a string that is marked as bytes.
std::string_view utf8_or_bytes_of(SEXP element);
// Compares with ASCII text, which is the same in all encodings of R.
bool equals_ascii(SEXP element, const char* word);

}  // namespace r
}  // namespace runhooks
