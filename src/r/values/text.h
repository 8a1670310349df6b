// Text on its way to R, as UTF-8 in every locale, and from R, in any encoding.
#pragma once

#include <string>
#include <string_view>

#include "r/values/rcpp.h"

namespace runhooks {
namespace r {

// --- to R; not protected. Rcpp::wrap() and Rcpp::CharacterVector make UTF-8 of std::string, too.

// An element of a character vector. What follows a zero byte is cut off.
SEXP utf8_element(const char* text);
inline SEXP utf8_element(const std::string& text) { return utf8_element(text.c_str()); }
// The same of data: R's strings have no zero bytes, and a text with one is an error.
SEXP text_element(const std::string& text);
// A character vector of one element.
SEXP text_to_r(const std::string& text);

// --- from R

// The text of an element of a character vector. Throws where it is marked as bytes, since R itself
// would jump over our frames.
const char* utf8_of(SEXP element);
// The same, or the bytes.
std::string_view utf8_or_bytes_of(SEXP element);
// Of a word in ASCII, which is the same in all of R's encodings.
bool is_word(SEXP element, const char* word);

}  // namespace r
}  // namespace runhooks
