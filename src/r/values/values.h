// What R gave, checked, and values on their way in and out.
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

// --- r/values/checked.cpp: what R gave, checked before it is looked into: R itself would jump over
// our frames

// A list, or NULL for an empty one.
class RList {
 public:
  // `what` names it in messages; it must outlive the list.
  RList(SEXP x, const char* what);
  R_xlen_t size() const { return Rf_xlength(list_); }
  SEXP operator[](R_xlen_t i) const;
  bool has_names() const { return names_ != R_NilValue; }
  // Throws where there are no names.
  std::string name(R_xlen_t i) const;
  // NULL where the list has no such element.
  SEXP find(const char* name) const;

 private:
  SEXP list_, names_;
  const char* what_;
};

// NULL where the list has no such element.
SEXP list_element(SEXP list, const char* name);
// The variable of the environment itself, its parents not asked; NULL of R where it has none.
SEXP frame_variable(SEXP environment, SEXP symbol);
// One number that is not missing.
double number_from_r(SEXP x, const char* what);
// The number as an integer, towards 0; throws where it is none or too large.
int64_t whole_from_r(double x, const char* what);
inline int64_t whole_from_r(SEXP x, const char* what) {
  return whole_from_r(number_from_r(x, what), what);
}
SEXP function_from_r(SEXP x, const char* what);
// NULL is none of it.
inline bool is_true(SEXP x) {
  return TYPEOF(x) == LGLSXP && Rf_xlength(x) == 1 && LOGICAL(x)[0] == TRUE;
}
// A specification: a list with names.
std::shared_ptr<Args> spec_from_r(SEXP spec, const char* what);

// --- r/values/convert.cpp: values

// A list of NULLs. Duplicating one is quicker than setting names. Not protected.
SEXP named_list(const std::vector<const char*>& names);

// R's vectors are in column-major, tensors in row-major order. `wanted` kInvalid: double to
// float64, integer to int32, logical to bool, character to string.
Tensor tensor_from_r(SEXP x, DType wanted = DType::kInvalid);
// The same with a dimension of rows in any case: one number is one row.
Tensor rows_from_r(SEXP x, DType wanted = DType::kInvalid);
// Rank 0: a plain scalar, else an array with dim. int64 becomes double. Not protected.
// Strings that R cannot hold (with a zero byte), and all of them where `as_bytes`, are raw vectors.
SEXP tensor_to_r(const Tensor& tensor, bool as_bytes = false);
Value value_from_r(SEXP x);
SEXP value_to_r(const Value& value);
std::shared_ptr<Args> args_from_r(SEXP list, const std::string& owner);
DType dtype_from_r(SEXP x);
// A numeric vector of dimensions, NA for an unknown one; NULL is an unknown rank.
Shape shape_from_r(SEXP x);
SEXP shape_to_r(const Shape& shape);
std::string string_from_r(SEXP x);

// A function of R that the core may call.
class RCallable : public Callable {
 public:
  explicit RCallable(SEXP function) : function_(RFunction::make(function)) {}
  Value call(const std::vector<Value>& arguments) override;
  // Of a function that R has wrapped for the core, the one inside: its attribute "wrapped".
  const void* identity() const override;

 private:
  RFunctionPtr function_;
};

// --- r/values/plain_objects.cpp: what may be written to files that others read

// Numbers, strings, lists, ... with attributes. Whatever else is found in it is an error that names
// the place, `whole` being the name of all ("state"), and `owner` whose it is.
PlainData plain_from_r(SEXP x, const std::string& owner, const std::string& whole);
// Not protected. Attributes that do not fit are kDataLoss.
SEXP plain_to_r(const PlainData& data);

}  // namespace r
}  // namespace runhooks
