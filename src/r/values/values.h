// Conversion of R objects to values of the core and back, with checks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/args.h"
#include "io/files/plain_data.h"
#include "r/values/r_function.h"
#include "r/values/text.h"
#include "runhooks_types.h"

namespace runhooks {
namespace r {

// --- r/values/checked.cpp: checked access to R objects. R's own accessors would longjmp over C++
// --- frames on a wrong type.

// What a value is, for messages: "a string", "a data frame", "an object of class `lm`".
std::string kind_in_words(SEXP x);

// A list; NULL counts as an empty list.
class RList {
 public:
  // `label` describes the list in messages and must outlive this object.
  RList(SEXP x, const char* label);
  R_xlen_t size() const { return Rf_xlength(list_); }
  SEXP operator[](R_xlen_t i) const;
  bool has_names() const { return names_ != R_NilValue; }
  // Throws if the list has no names.
  std::string name(R_xlen_t i) const;
  // Returns an element by name; R_NilValue if the list has no such element.
  SEXP find(const char* name) const;

 private:
  SEXP list_, names_;
  const char* label_;
};

// Like Rf_allocVector(), but throws if there is not enough memory, where R would longjmp over C++
// frames. The result is not protected from R's collector.
SEXP allocate_vector(unsigned type, R_xlen_t length);
// Returns an element by name; R_NilValue if the list has no such element.
SEXP list_element(SEXP list, const char* name);
// Returns a variable of the environment, not of its parents; R_NilValue if it does not exist.
SEXP frame_variable(SEXP environment, SEXP symbol);
// Returns a single number. Throws for NA_integer_ and the logical NA.
double number_from_r(SEXP x, const char* label);
// Truncates towards 0; throws for NaN and numbers outside of int64.
int64_t whole_from_r(double x, const char* label);
inline int64_t whole_from_r(SEXP x, const char* label) {
  return whole_from_r(number_from_r(x, label), label);
}
SEXP function_from_r(SEXP x, const char* label);
inline bool is_true(SEXP x) {
  return TYPEOF(x) == LGLSXP && Rf_xlength(x) == 1 && LOGICAL(x)[0] == TRUE;
}
// Converts a specification of an object, which is a named list.
std::shared_ptr<Args> spec_from_r(SEXP spec, const char* label);

// --- r/values/convert.cpp and arguments.cpp: conversion of values

// Returns a copy of a list of NULLs with these names: copying is faster than setting names. The
// result is not protected from R's collector.
SEXP named_list(const std::vector<const char*>& names);

// Converts an R vector or array, which is column-major. With kInvalid, double becomes float64,
// integer int32 and logical bool.
Tensor tensor_from_r(SEXP x, DType dtype = DType::kInvalid);
// Like tensor_from_r(), but a single number becomes one row instead of a scalar.
Tensor rows_from_r(SEXP x, DType dtype = DType::kInvalid);
// Converts a tensor. int64 becomes double. Strings become raw vectors if one contains a zero byte
// or if `as_bytes`. The result is not protected from R's collector.
SEXP tensor_to_r(const Tensor& tensor, bool as_bytes = false);
Value value_from_r(SEXP x);
SEXP value_to_r(const Value& value);
std::shared_ptr<Args> args_from_r(SEXP list, const std::string& owner);
DType dtype_from_r(SEXP x);
// In R a shape is a numeric vector of dimensions, with NA for an unknown dimension. NULL means an
// unknown rank.
Shape shape_from_r(SEXP x);
SEXP shape_to_r(const Shape& shape);
std::string string_from_r(SEXP x);

// An R function as an argument of the core.
class RCallable : public Callable {
 public:
  explicit RCallable(SEXP function) : function_(RFunction::make(function)) {}
  Value call(const std::vector<Value>& arguments) override;
  // Returns the address of the R function. For a wrapper that R code makes for the core, returns
  // the address of the original function, which is the wrapper's attribute "wrapped".
  const void* identity() const override;

 private:
  RFunctionPtr function_;
};

// --- r/values/plain_objects.cpp: plain data for files

// Converts plain data, and throws for other objects. The message contains `owner` and the path of
// the invalid element, which begins with `root` (such as "state").
PlainData plain_from_r(SEXP x, const std::string& owner, const std::string& root);
// Throws kDataLoss for attributes that R rejects. The result is not protected from R's collector.
SEXP plain_to_r(const PlainData& data);

}  // namespace r
}  // namespace runhooks
