#include "training/lowered_update.h"

#include "ops/lookup/lowering.h"
#include "ops/state/gradient_helpers.h"

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

Output LoweredUpdate::scalar(double x) const { return graph_.scalar(op_.attr_type("T"), x); }

Output LoweredUpdate::update_mean(int variable, Output target, Output beta) {
  const Output step = multiply(graph_, subtract(graph_, target, value(variable)),
                               subtract(graph_, scalar(1), beta));
  const Output next = add(graph_, value(variable), step);
  set(variable, next);
  return next;
}

Output LoweredUpdate::update_mean_rows(int variable, Output rows, Output indices, Output beta) {
  const Output weighted_rows = multiply(graph_, rows, subtract(graph_, scalar(1), beta));
  const Output scattered = scatter(variable, weighted_rows, indices);
  const Output next = add(graph_, multiply(graph_, value(variable), beta), scattered);
  set(variable, next);
  return next;
}

Output LoweredUpdate::scatter(int variable, Output rows, Output indices) const {
  return graph_.op("UnsortedSegmentSum", {rows, indices, dimension(graph_, value(variable), 0)});
}

Output LoweredUpdate::row_mask(int variable, Output rows, Output indices) const {
  const Output ones = add(graph_, graph_.op("ZerosLike", {rows}), scalar(1));
  return graph_.op("Greater", {scatter(variable, ones, indices), scalar(0)});
}

void LoweredUpdate::set(int variable, Output value) {
  assignments_.push_back(assign(variable, value, "Assign"));
}

void LoweredUpdate::finish(Output value) {
  const ControlDependencies after(graph_, assignments_);
  assign(0, value, result_name(op_));
}

Operation* LoweredUpdate::assign(int variable, Output value, const std::string& name) const {
  const char* type = is_resource_ ? "AssignVariableOp" : "Assign";
  return graph_.op(type, {inputs_[static_cast<size_t>(variable)], value}).named(name);
}

}  // namespace runhooks
