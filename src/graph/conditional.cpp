#include "graph/conditional.h"

#include <algorithm>

#include "tensor/generalize_shapes.h"

namespace runhooks {

bool is_stateful_function(const FuncGraph& function) {
  const auto has_state = [](const Operation& op) {
    const OpDef& def = op.def();
    return def.is_stateful || def.holds_variable || def.reads_variable || !def.mutates.empty();
  };
  for (const Operation* op : needed_operations(function)) {
    const auto& arguments = function.arguments();
    const bool is_argument = std::any_of(
        arguments.begin(), arguments.end(),
        [op](const auto& argument) { return !argument.is_handle() && argument.inside.op == op; });
    if (!is_argument && has_state(*op)) return true;
  }
  return false;
}

std::vector<Operation*> outer_control_inputs_of(const std::vector<FuncGraph*>& functions) {
  std::vector<Operation*> all;
  for (const FuncGraph* function : functions) {
    for (Operation* op : function->outer_control_inputs()) {
      if (std::find(all.begin(), all.end(), op) == all.end()) all.push_back(op);
    }
  }
  return all;
}

Operation* add_if(Graph& graph,
                  const Output& pred,
                  const std::shared_ptr<FuncGraph>& then_branch,
                  const std::shared_ptr<FuncGraph>& else_branch,
                  const std::string& name) {
  const std::vector<FuncGraph*> branches = {then_branch.get(), else_branch.get()};
  FuncGraph::unify_captures(branches, 0);
  std::vector<Output> inputs = {pred};
  for (const auto& argument : then_branch->arguments()) inputs.push_back(argument.outside);
  std::vector<DType> types;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < then_branch->results.size(); ++i) {
    types.push_back(then_branch->results[i].dtype());
    shapes.push_back(
        generalize_shapes(then_branch->results[i].shape(), else_branch->results[i].shape()));
  }
  const bool is_stateful = is_stateful_function(*then_branch) || is_stateful_function(*else_branch);
  return graph.op(is_stateful ? "If" : "StatelessIf", inputs)
      .attr("Tout", types)
      .attr("then_branch", FunctionPtr(then_branch))
      .attr("else_branch", FunctionPtr(else_branch))
      .attr("output_shapes", shapes)
      .attr("_lower_using_switch_merge", true)
      .named(name)
      .after(outer_control_inputs_of(branches));
}

}  // namespace runhooks
