#include "training/lowered_update.h"

#include "ops/gradient_helpers.h"
#include "ops/lowering.h"

namespace runhooks {

LoweredUpdate::LoweredUpdate(Graph& graph, const Operation& op, const std::vector<Output>& inputs)
    : graph_(graph), op_(op), is_resource_(op.num_outputs() == 0), inputs_(inputs) {
  const DType dtype = op.attr_type("T");
  for (const Output& input : inputs) {
    if (input.dtype() == DType::kResource) {
      values_.push_back(graph.op("ReadVariableOp", {input}).attr("dtype", dtype));
    } else {
      values_.push_back(input.is_ref() ? static_cast<Output>(graph.op("Identity", {input}))
                                       : input);
    }
  }
}

Output LoweredUpdate::number(double x) const { return graph_.scalar(op_.attr_type("T"), x); }

Output LoweredUpdate::move_mean(int variable, Output target, Output beta) {
  const Output step = multiply(graph_, subtract(graph_, target, value(variable)),
                               subtract(graph_, number(1), beta));
  const Output next = add(graph_, value(variable), step);
  assigned_.push_back(assign(variable, next, "Assign"));
  return next;
}

Output LoweredUpdate::move_mean_rows(int variable, Output rows, Output indices, Output beta) {
  const Output steps = multiply(graph_, rows, subtract(graph_, number(1), beta));
  const Output all =
      graph_.op("UnsortedSegmentSum", {steps, indices, dimension(graph_, value(variable), 0)});
  const Output next = add(graph_, multiply(graph_, value(variable), beta), all);
  assigned_.push_back(assign(variable, next, "Assign"));
  return next;
}

void LoweredUpdate::finish(Output value) {
  const ControlDependencies after(graph_, assigned_);
  assign(0, value, result_name(op_));
}

Operation* LoweredUpdate::assign(int variable, Output value, const std::string& name) const {
  const char* type = is_resource_ ? "AssignVariableOp" : "Assign";
  return graph_.op(type, {inputs_[static_cast<size_t>(variable)], value}).named(name);
}

}  // namespace runhooks
