// Inputs, attributes and consumers of tensors and operations, for `$` in R.
#include "graph/func_graph.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/named_values.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

struct AttrToR {
  SEXP operator()(std::monostate) const { return R_NilValue; }
  SEXP operator()(int64_t x) const { return Rcpp::wrap(static_cast<double>(x)); }
  SEXP operator()(float x) const { return Rcpp::wrap(static_cast<double>(x)); }
  SEXP operator()(bool x) const { return Rcpp::wrap(x); }
  SEXP operator()(const std::string& x) const { return text_to_r(x); }
  SEXP operator()(DType x) const { return text_to_r(dtype_name(x)); }
  SEXP operator()(const Shape& x) const { return shape_to_r(x); }
  SEXP operator()(const Tensor& x) const { return tensor_to_r(x); }
  SEXP operator()(const std::vector<int64_t>& x) const {
    return Rcpp::wrap(std::vector<double>(x.begin(), x.end()));
  }
  SEXP operator()(const std::vector<float>& x) const {
    return Rcpp::wrap(std::vector<double>(x.begin(), x.end()));
  }
  SEXP operator()(const std::vector<std::string>& x) const { return Rcpp::wrap(x); }
  SEXP operator()(const std::vector<DType>& x) const {
    std::vector<std::string> names;
    for (const DType dtype : x) names.emplace_back(dtype_name(dtype));
    return Rcpp::wrap(names);
  }
  SEXP operator()(const std::vector<Shape>& x) const { return list_to_r(x, shape_to_r); }
  SEXP operator()(const FunctionPtr& x) const { return text_to_r(x->function_name()); }
};

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP cpp_operation_inputs(SEXP x) {
  return guarded_entry([&] { return list_to_r(operation_of(x)->inputs(), tensor_handle); });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_operation_control_inputs(SEXP x) {
  return guarded_entry(
      [&] { return list_to_r(operation_of(x)->control_inputs(), operation_handle); });
}

// Returns an attribute. A data type becomes its name. A shape becomes numbers, with NA for unknown
// dimensions.
// [[Rcpp::export(rng = false)]]
SEXP cpp_operation_attr(SEXP x, Text name) {
  return guarded_entry([&]() -> SEXP {
    const Operation* op = operation_of(x);
    const AttrValue* value = op->attrs().find(name);
    if (!value) {
      fail(Code::kInvalidArgument, "Operation '", op->name(), "' has no attr named '", name, "'.");
    }
    return std::visit(AttrToR(), *value);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_tensor_consumers(SEXP x) {
  return guarded_entry([&] {
    const Output tensor = tensor_of(x);
    std::vector<Operation*> consumers;
    for (const auto& op : tensor.graph().operations()) {
      for (const Output& input : op->inputs()) {
        if (input != tensor) continue;
        consumers.push_back(op.get());
        break;
      }
    }
    return list_to_r(consumers, operation_handle);
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_tensor_set_shape(SEXP x, SEXP dims) {
  guarded_entry([&] {
    const Output tensor = tensor_of(x);
    tensor.op->set_output_shape(tensor.index, shape_from_r(dims));
  });
}
