#include "ops/state/py_func.h"

#include "graph/op_registry.h"

namespace runhooks {

namespace {

class PyFuncKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Operation& op = c.op();
    auto* function = static_cast<TensorFunction*>(op.payload.get());
    if (!function) {
      fail(Code::kFailedPrecondition, "The function of '", op.name(),
           "' is not stored in graph files.");
    }
    std::vector<Tensor> inputs;
    for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.input(i));
    const auto& types = op.attr<std::vector<DType>>("Tout");
    const std::vector<Tensor> results = function->call(inputs, types);
    if (results.size() != types.size()) {
      invalid_argument("The function of '", op.name(), "' returned ", results.size(),
                       " results; expected ", types.size(), ".");
    }
    for (size_t i = 0; i < types.size(); ++i) c.copy_to_output(static_cast<int>(i), results[i]);
  }
};

void unknown_shapes(ShapeContext&) {}

}  // namespace

// Stateful even if the R function is deterministic: calls may have side effects, so they must not
// be replaced by a constant.
#define RUNHOOKS_R_FUNCTION_OP(type)     \
  RUNHOOKS_REGISTER_OP(type)             \
      .input("input: Tin")               \
      .output("output: Tout")            \
      .attr("token: string")             \
      .attr("Tin: list(type) >= 0")      \
      .attr("Tout: list(type) >= 0")     \
      .shape(unknown_shapes)             \
      .kernel(kernel_of<PyFuncKernel>()) \
      .stateful()                        \
      .allocates_outputs()               \
      .host_function()                   \
      .not_differentiable()              \
      .endpoint("raw_ops." type)

RUNHOOKS_R_FUNCTION_OP("PyFunc").summary("Calls an R function with tensors.");

RUNHOOKS_R_FUNCTION_OP("PyFuncStateless").summary("Calls a deterministic R function with tensors.");

Operation* make_py_func(Graph& graph,
                        std::shared_ptr<TensorFunction> function,
                        const Outputs& inputs,
                        const std::vector<DType>& output_types,
                        bool is_stateful,
                        const std::string& name) {
  OpBuilder builder = graph.op(is_stateful ? "PyFunc" : "PyFuncStateless", inputs);
  std::vector<DType> input_types;
  for (const Output& input : inputs) input_types.push_back(input.dtype());
  Operation* op = builder.attr("token", "r_function")
                      .attr("Tin", input_types)
                      .attr("Tout", output_types)
                      .named(name)
                      .build();
  op->payload = std::move(function);
  return op;
}

}  // namespace runhooks
