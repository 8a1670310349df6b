// Conversion of R objects that contain no code to and from plain data in files.
#include "io/files/atomic_file.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

using Kind = PlainData::Kind;
using Mark = PlainData::Text::Mark;

// The object to which the data belong, for messages, and the current depth of nested lists.
struct Context {
  const std::string& owner;
  int depth = 0;
};

[[noreturn]] void throw_not_plain(const Context& context,
                                  const std::string& path,
                                  const std::string& description) {
  throw Error(Code::kInvalidArgument,
              str_cat(context.owner, " contains `", path, "`, which is ", description,
                      "; checkpoints accept plain data only."),
              {"Plain data are numbers, logicals, strings, raw bytes, dates, factors, data frames, "
               "and lists of these.",
               "Save the data needed to rebuild the object, and rebuild it in restore_state()."});
}

std::string kind_of(SEXP x) {
  const bool is_pointer = TYPEOF(x) == EXTPTRSXP;  // tensors are S4 objects, too
  if (Rf_isS4(x) && !is_pointer) return "an S4 object";
  switch (TYPEOF(x)) {
    case CLOSXP:
    case BUILTINSXP:
    case SPECIALSXP:
      return "a function";
    case ENVSXP:
      return Rf_inherits(x, "R6") ? "an R6 object" : "an environment";
    case LANGSXP:
      return Rf_inherits(x, "formula") ? "a formula" : "a call";
    case EXTPTRSXP:
      return "an external pointer";
    case SYMSXP:
      return "a symbol";
    default:
      return str_cat("an object of type ", Rf_type2char(TYPEOF(x)));
  }
}

Kind plain_kind(SEXP x) {
  switch (TYPEOF(x)) {
    case LGLSXP:
      return Kind::kLogical;
    case INTSXP:
      return Kind::kInteger;
    case REALSXP:
      return Kind::kDouble;
    case CPLXSXP:
      return Kind::kComplex;
    case STRSXP:
      return Kind::kCharacter;
    case RAWSXP:
      return Kind::kRaw;
    case VECSXP:
      return Kind::kList;
    default:
      return Kind::kNull;
  }
}

unsigned int r_type(Kind kind) {
  switch (kind) {
    case Kind::kLogical:
      return LGLSXP;
    case Kind::kInteger:
      return INTSXP;
    case Kind::kDouble:
      return REALSXP;
    case Kind::kComplex:
      return CPLXSXP;
    case Kind::kCharacter:
      return STRSXP;
    case Kind::kRaw:
      return RAWSXP;
    case Kind::kList:
      return VECSXP;
    default:
      return NILSXP;
  }
}

PlainData::Text plain_text(SEXP element) {
  if (element == NA_STRING) return {"", Mark::kMissing};
  const bool is_bytes = Rf_getCharCE(element) == CE_BYTES;
  return {std::string(utf8_or_bytes_of(element)), is_bytes ? Mark::kBytes : Mark::kUtf8};
}

SEXP plain_text_to_r(const PlainData::Text& text) {
  if (text.mark == Mark::kMissing) return NA_STRING;
  return Rf_mkCharLenCE(  // lint: allow text
      text.bytes.data(), static_cast<int>(text.bytes.size()),
      text.mark == Mark::kBytes ? CE_BYTES : CE_UTF8);
}

PlainData convert(SEXP x, const Context& context, const std::string& path);

// Returns `path$name`, or `path[[i]]` for an element without a name.
std::string element_path(const std::string& path, SEXP names, R_xlen_t i) {
  const std::string name = names == R_NilValue ? "" : utf8_of(STRING_ELT(names, i));
  return name.empty() ? str_cat(path, "[[", static_cast<long>(i + 1), "]]")
                      : str_cat(path, "$", name);
}

void convert_attributes(SEXP x, const Context& context, const std::string& path, PlainData& data) {
  Rcpp::Shield<SEXP> attributes(call_r_function(Rf_install("attributes"), {x}, R_BaseEnv));
  if (attributes == R_NilValue) return;
  Rcpp::Shield<SEXP> names(Rf_getAttrib(attributes, R_NamesSymbol));
  for (R_xlen_t i = 0; i < Rf_xlength(attributes); ++i) {
    const std::string name = utf8_of(STRING_ELT(names, i));
    data.attributes.emplace_back(name, convert(VECTOR_ELT(attributes, i), context,
                                               str_cat("attr(", path, ", \"", name, "\")")));
  }
}

PlainData convert(SEXP x, const Context& context, const std::string& path) {
  PlainData data;
  if (x == R_NilValue) return data;
  data.kind = plain_kind(x);
  if (data.kind == Kind::kNull || Rf_isS4(x)) throw_not_plain(context, path, kind_of(x));
  const Context inner{context.owner, context.depth + 1};
  if (inner.depth > kMaxPlainDepth)
    throw_not_plain(context, path, "a list that is nested too deeply");
  if (data.kind == Kind::kList) {
    Rcpp::Shield<SEXP> names(Rf_getAttrib(x, R_NamesSymbol));
    for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
      data.items.push_back(convert(VECTOR_ELT(x, i), inner, element_path(path, names, i)));
    }
  } else if (data.kind == Kind::kCharacter) {
    for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) data.texts.push_back(plain_text(STRING_ELT(x, i)));
  } else {
    const size_t bytes = static_cast<size_t>(Rf_xlength(x)) * PlainData::element_size(data.kind);
    data.numbers.assign(static_cast<const char*>(dataptr(x)), bytes);
  }
  convert_attributes(x, inner, path, data);
  return data;
}

// Whether `names` is the only attribute, as in most vectors in files: selects a fast path.
bool has_names_only(const PlainData& data) {
  if (data.attributes.size() != 1 || data.attributes[0].first != "names") return false;
  const PlainData& names = data.attributes[0].second;
  return names.kind == Kind::kCharacter && names.attributes.empty() &&
         names.length() == data.length();
}

// Sets attributes by calling R code, because it checks them.
SEXP with_attributes(SEXP x, const PlainData& data) {
  if (has_names_only(data)) {
    Rcpp::Shield<SEXP> names(plain_to_r(data.attributes[0].second));
    Rf_setAttrib(x, R_NamesSymbol, names);
    return x;
  }
  const auto n = static_cast<R_xlen_t>(data.attributes.size());
  Rcpp::Shield<SEXP> attributes(allocate_vector(VECSXP, n)), names(allocate_vector(STRSXP, n));
  for (R_xlen_t i = 0; i < n; ++i) {
    const auto& attribute = data.attributes[static_cast<size_t>(i)];
    SET_STRING_ELT(names, i, utf8_element(attribute.first));
    SET_VECTOR_ELT(attributes, i, plain_to_r(attribute.second));
  }
  Rf_setAttrib(attributes, R_NamesSymbol, names);
  Rcpp::Shield<SEXP> result(call_internal("set_plain_attributes", {x, attributes}));
  if (result == R_NilValue) {
    fail(Code::kDataLoss, "Plain data are damaged: the attributes of a vector do not fit it.");
  }
  return result;
}

}  // namespace

PlainData plain_from_r(SEXP x, const std::string& owner, const std::string& root) {
  return convert(x, Context{owner}, root);
}

SEXP plain_to_r(const PlainData& data) {
  if (data.kind == Kind::kNull) return R_NilValue;
  const auto n = static_cast<R_xlen_t>(data.length());
  Rcpp::Shield<SEXP> x(allocate_vector(r_type(data.kind), n));
  if (data.kind == Kind::kList) {
    for (R_xlen_t i = 0; i < n; ++i) {
      SET_VECTOR_ELT(x, i, plain_to_r(data.items[static_cast<size_t>(i)]));
    }
  } else if (data.kind == Kind::kCharacter) {
    for (R_xlen_t i = 0; i < n; ++i) {
      SET_STRING_ELT(x, i, plain_text_to_r(data.texts[static_cast<size_t>(i)]));
    }
  } else if (n > 0) {
    std::memcpy(dataptr(x), data.numbers.data(), data.numbers.size());
  }
  return data.attributes.empty() ? static_cast<SEXP>(x) : with_attributes(x, data);
}

}  // namespace r
}  // namespace runhooks
