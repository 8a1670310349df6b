#include "r/values/text.h"

#include <cstring>

#include "base/status.h"
#include "base/unicode.h"

namespace runhooks {
namespace r {

SEXP utf8_element(const char* text) { return Rf_mkCharCE(text, CE_UTF8); }

SEXP text_element(const std::string& text) {
  const size_t zero = text.find('\0');
  if (zero != std::string::npos) {
    const size_t begin = zero < 20 ? 0 : zero - 20;
    throw Error(Code::kInvalidArgument,
                str_cat("A string of ", static_cast<unsigned long>(text.size()),
                        " bytes has a zero byte after '", text.substr(begin, zero - begin),
                        "'; R strings cannot contain zero bytes."),
                {"Use `tf$decode_raw()` to convert the bytes to numbers."});
  }
  return Rf_mkCharLenCE(text.data(), static_cast<int>(text.size()),
                        is_utf8(text) ? CE_UTF8 : CE_BYTES);
}

SEXP text_to_r(const std::string& text) { return Rf_ScalarString(utf8_element(text)); }

SEXP raw_to_r(const std::string& bytes) {
  SEXP raw = Rf_allocVector(RAWSXP, static_cast<R_xlen_t>(bytes.size()));
  if (!bytes.empty()) std::memcpy(RAW(raw), bytes.data(), bytes.size());
  return raw;
}

std::string_view raw_bytes(SEXP raw) {
  return {reinterpret_cast<const char*>(RAW(raw)), static_cast<size_t>(Rf_xlength(raw))};
}

const char* utf8_of(SEXP element) {
  if (Rf_getCharCE(element) == CE_BYTES) {
    invalid_argument("A string that is marked as bytes cannot be converted to UTF-8; ",
                     "declare its encoding with `Encoding<-` or convert it with `iconv()`.");
  }
  return Rf_translateCharUTF8(element);
}

std::string_view utf8_or_bytes_of(SEXP element) {
  return Rf_getCharCE(element) == CE_BYTES ? CHAR(element) : Rf_translateCharUTF8(element);
}

bool equals_ascii(SEXP element, const char* word) { return std::strcmp(CHAR(element), word) == 0; }

}  // namespace r
}  // namespace runhooks

namespace Rcpp {
namespace internal {

template <>
SEXP make_charsexp<std::string>(const std::string& text) {
  return runhooks::r::utf8_element(text);
}

}  // namespace internal
}  // namespace Rcpp
