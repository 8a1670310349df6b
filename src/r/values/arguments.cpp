#include "graph/indexed_slices.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/classed.h"
#include "r/values/convert.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/named_values.h"
#include "r/values/nesting.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

Value list_value(SEXP x) {
  auto list = std::make_shared<ValueList>();
  for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) list->push_back(value_from_r(VECTOR_ELT(x, i)));
  return Value::of(list);
}

Value vector_value(SEXP x) {
  if (Rf_getAttrib(x, R_DimSymbol) != R_NilValue)
    return Value::of(tensor_from_r(x, declared_dtype(x)));
  check_plain_numbers(x);
  const bool is_int64 = holds_integer64(x);
  auto element = [x, is_int64](R_xlen_t i) -> Value {
    if (is_int64) return Value::of(integer64_at(x, i));
    switch (TYPEOF(x)) {
      case LGLSXP:
        if (LOGICAL(x)[i] == NA_LOGICAL) return Value();
        return Value::of(LOGICAL(x)[i] != 0);
      case INTSXP:
        if (INTEGER(x)[i] == NA_INTEGER) return Value();
        return Value::of(static_cast<int64_t>(INTEGER(x)[i]));
      case REALSXP:
        return Value::of(REAL(x)[i]);
      default:
        return Value::of(std::string(utf8_of(STRING_ELT(x, i))));
    }
  };
  if (Rf_xlength(x) == 1) return element(0);
  auto list = std::make_shared<ValueList>();
  for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) list->push_back(element(i));
  return Value::of(list);
}

}  // namespace

std::shared_ptr<Args> args_from_r(SEXP list, const std::string& owner) {
  auto args = std::make_shared<Args>(owner);
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  const bool is_list = TYPEOF(list) == VECSXP || list == R_NilValue;
  if (!is_list || (names == R_NilValue && Rf_xlength(list) > 0)) {
    invalid_argument("A named list is expected for ", owner, ", not ",
                     is_list ? "a list without names"
                             : str_cat("an object of type ", Rf_type2char(TYPEOF(list))),
                     ".");
  }
  for (R_xlen_t i = 0; i < Rf_xlength(list); ++i) {
    args->set(utf8_of(STRING_ELT(names, i)), value_from_r(VECTOR_ELT(list, i)));
  }
  return args;
}

Value value_from_r(SEXP x) {
  if (Rf_isObject(x) && Rf_inherits(x, "tensorflow.dtype")) {
    return Value::of(string_from_r(VECTOR_ELT(x, 0)));
  }
  if (Rf_isObject(x) && Rf_inherits(x, "tensorflow.shape")) {
    return value_from_r(list_element(x, "dims"));
  }
  // TensorFlow accepts an initializer class in place of an object, such as `tf$zeros_initializer`.
  if (Rf_isFunction(x) && Rf_inherits(x, "runhooks_initializer_class")) {
    Rcpp::Shield<SEXP> object(call_r_function(x));
    return value_from_r(object);
  }
  // A built-in initializer has a specification, from which the core constructs the object.
  if (Rf_isFunction(x) && Rf_inherits(x, "runhooks_initializer")) {
    return value_from_r(Rf_getAttrib(x, Rf_install("spec")));
  }
  if (is_tensor(x)) return Value::of(tensor_of(x));
  if (is_operation(x)) return Value::of(operation_of(x));
  if (is_variable(x)) return Value::of(variable_of(x));
  if (is_handle(x, kCoreObject)) return Value::of(from_handle<CoreObject>(x, kCoreObject));
  if (is_indexed_slices(x)) return gradient_value(gradient_from_r(x));
  if (Rf_isFunction(x)) {
    return Value::of(std::shared_ptr<Callable>(std::make_shared<RCallable>(x)));
  }
  if (is_bytes(x)) return Value::of(tensor_from_r(x));
  switch (TYPEOF(x)) {
    case NILSXP:
      return Value();
    case LGLSXP:
    case INTSXP:
    case REALSXP:
    case STRSXP:
      return vector_value(x);
    case VECSXP: {
      const NestedList inside;
      SEXP names = Rf_getAttrib(x, R_NamesSymbol);
      if (names == R_NilValue) return list_value(x);
      // The attribute "owner" names the specification in messages.
      Rcpp::Shield<SEXP> owner(Rf_getAttrib(x, Rf_install("owner")));
      return Value::of(
          args_from_r(x, owner == R_NilValue ? "the arguments" : string_from_r(owner)));
    }
    default:
      invalid_argument("An argument cannot be ", kind_in_words(x), ".");
  }
}

SEXP value_to_r(const Value& value) {
  if (const auto* flag = value.get_if<bool>()) return Rf_ScalarLogical(*flag);
  if (const auto* integer = value.get_if<int64_t>())
    return Rf_ScalarReal(static_cast<double>(*integer));
  if (const auto* number = value.get_if<double>()) return Rf_ScalarReal(*number);
  if (const auto* text = value.get_if<std::string>()) return Rcpp::wrap(*text);
  if (const auto* output = value.get_if<Output>()) return tensor_handle(*output);
  if (auto* const* op = value.get_if<Operation*>()) return operation_handle(*op);
  if (const auto* variable = value.get_if<VariablePtr>()) return variable_handle(*variable);
  if (const auto* tensor = value.get_if<Tensor>()) return tensor_to_r(*tensor);
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    return list_to_r(**list, value_to_r);
  }
  if (const auto* args = value.get_if<std::shared_ptr<Args>>()) {
    return named_values_to_r((*args)->items(), value_to_r);
  }
  if (const Gradient* rows = indexed_slices_in(value)) return gradient_to_r(*rows);
  return R_NilValue;
}

namespace {

// Makes a shape from a list of dimensions, in which NULL is an unknown dimension.
Shape shape_of_list(SEXP x) {
  Shape shape;
  for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
    const bool is_null = VECTOR_ELT(x, i) == R_NilValue;
    // Does not recurse into nested lists: their depth is unbounded.
    const bool is_list = TYPEOF(VECTOR_ELT(x, i)) == VECSXP && !Rf_isObject(VECTOR_ELT(x, i));
    const Shape dim = is_list ? Shape() : shape_from_r(VECTOR_ELT(x, i));
    if (!is_null && dim.rank() != 1) {
      invalid_argument("A dimension of a shape must be a number or `NULL`; element ", i + 1,
                       " is neither.");
    }
    shape.append(is_null ? -1 : dim.dim(0));
  }
  return shape;
}

}  // namespace

SEXP shape_to_r(const Shape& shape) {
  if (!shape.has_rank()) return R_NilValue;
  Rcpp::NumericVector dims(shape.rank());
  for (int i = 0; i < shape.rank(); ++i) {
    dims[i] = shape.dim(i) < 0 ? NA_REAL : static_cast<double>(shape.dim(i));
  }
  return dims;
}

Shape shape_from_r(SEXP x) {
  if (x == R_NilValue) return Shape::unknown();
  if (Rf_inherits(x, "tensorflow.shape")) return shape_from_r(list_element(x, "dims"));
  if (TYPEOF(x) == VECSXP) return shape_of_list(x);
  if (TYPEOF(x) != REALSXP && TYPEOF(x) != INTSXP && TYPEOF(x) != LGLSXP) {
    invalid_argument("The dimensions of a shape must be numbers or `NULL`, not ", kind_in_words(x),
                     ".");
  }
  Shape shape;
  for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
    const double dim = TYPEOF(x) == REALSXP          ? REAL(x)[i]
                       : INTEGER(x)[i] == NA_INTEGER ? NA_REAL
                                                     : INTEGER(x)[i];
    shape.append(ISNAN(dim) || dim < 0 ? -1 : integer_in_range(dim, DType::kInt64));
  }
  return shape;
}

std::string string_from_r(SEXP x) {
  if (TYPEOF(x) != STRSXP || Rf_xlength(x) != 1 || STRING_ELT(x, 0) == NA_STRING) {
    invalid_argument("A single string is expected.");
  }
  return utf8_of(STRING_ELT(x, 0));
}

DType dtype_from_r(SEXP x) {
  if (x == R_NilValue) return DType::kInvalid;
  SEXP name = TYPEOF(x) == VECSXP && Rf_xlength(x) > 0 ? VECTOR_ELT(x, 0) : x;
  const std::string text = string_from_r(name);
  const DType dtype = dtype_from_name(text);
  if (dtype == DType::kInvalid) invalid_argument("'", text, "' is not the name of a type.");
  return dtype;
}

const void* RCallable::identity() const {
  SEXP wrapped = Rf_getAttrib(function_->get(), Rf_install("wrapped"));
  return wrapped == R_NilValue ? function_->get() : wrapped;
}

Value RCallable::call(const std::vector<Value>& arguments) {
  Rcpp::Shield<SEXP> call(allocate_vector(LANGSXP, static_cast<R_xlen_t>(arguments.size()) + 1));
  SETCAR(call, function_->get());
  SEXP cell = CDR(call);
  for (const Value& argument : arguments) {
    SETCAR(cell, value_to_r(argument));
    cell = CDR(cell);
  }
  Rcpp::Shield<SEXP> result(eval_r(call, R_GlobalEnv));
  return value_from_r(result);
}

}  // namespace r
}  // namespace runhooks
