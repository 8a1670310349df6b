#include "ops/state/py_func.h"

#include "r/graph/graph_closure.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

class RTensorFunction : public TensorFunction {
 public:
  RTensorFunction(Graph& graph, SEXP function, std::string name)
      : function_(function_of_graph(graph, function)), name_(std::move(name)) {}

  std::vector<Tensor> call(const std::vector<Tensor>& inputs,
                           const std::vector<DType>& dtypes) override {
    Rcpp::Shield<SEXP> arguments(allocate_vector(VECSXP, static_cast<R_xlen_t>(inputs.size())));
    for (size_t i = 0; i < inputs.size(); ++i) {
      SET_VECTOR_ELT(arguments, static_cast<R_xlen_t>(i), tensor_to_r(inputs[i]));
    }
    Rcpp::Shield<SEXP> result(call_internal("call_tensor_function", {function_->get(), arguments}));
    throw_raised(result);
    return tensors_of(result, dtypes);
  }

 private:
  // Throws the condition that the R function call_tensor_function() has caught and returned. Only
  // conditions that control the loop, such as the end of the data, are returned in this way.
  static void throw_raised(SEXP result) {
    if (!Rf_inherits(result, "runhooks_raised")) return;
    const std::string kind = string_from_r(VECTOR_ELT(result, 1));
    throw error_of_condition(VECTOR_ELT(result, 0), code_from_name(kind));
  }
  std::vector<Tensor> tensors_of(SEXP result, const std::vector<DType>& dtypes) const {
    if (dtypes.size() == 1 && TYPEOF(result) != VECSXP) return {tensor_from_r(result, dtypes[0])};
    const bool fits = (TYPEOF(result) == VECSXP || result == R_NilValue) &&
                      static_cast<size_t>(Rf_xlength(result)) == dtypes.size();
    if (!fits && !dtypes.empty()) {
      invalid_argument("The function of '", name_, "' must return a list of ", dtypes.size(),
                       " values, one for each type in `Tout`.");
    }
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < dtypes.size(); ++i) {
      tensors.push_back(tensor_from_r(VECTOR_ELT(result, static_cast<R_xlen_t>(i)), dtypes[i]));
    }
    return tensors;
  }

  RFunctionPtr function_;
  std::string name_;
};

}  // namespace

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// Returns a list of the outputs, or the operation if it has no outputs.
// [[Rcpp::export(rng = false)]]
SEXP cpp_py_func(SEXP func, SEXP inputs, Texts output_types, bool is_stateful, Text name) {
  return guarded_entry([&]() -> SEXP {
    const std::vector<Output> tensors = tensors_from_r(inputs, "`inp`");
    std::vector<DType> types;
    for (const std::string& type : output_types) {
      const DType dtype = dtype_from_name(type);
      if (dtype == DType::kInvalid) invalid_argument("'", type, "' is not the name of a type.");
      types.push_back(dtype);
    }
    Graph& graph = *default_graph();
    Operation* op = make_py_func(
        graph, std::make_shared<RTensorFunction>(graph, function_from_r(func, "`func`"), name),
        tensors, types, is_stateful, name);
    if (types.empty()) return operation_handle(op);
    return tensors_to_r(op->outputs());
  });
}
