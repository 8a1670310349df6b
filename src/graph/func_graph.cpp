#include "graph/func_graph.h"

#include <algorithm>

#include "base/ascii.h"
#include "graph/ancestors.h"

namespace runhooks {

FuncGraph::FuncGraph(Graph& outer, const std::string& scope, const std::string& name)
    : Graph(outer, scope), outer_(outer), scope_(scope) {
  name_ = str_cat("__", scope, name, "_", seed_number() / 1000003);
  for (char& c : name_) {
    const bool is_valid = is_ascii_alnum(c) || c == '_';
    if (!is_valid) c = '_';
  }
}

Output FuncGraph::add_argument(DType dtype, const Shape& shape, const std::string& name) {
  const ControlDependencies none(*this, {}, true);
  const NameScope scope(*this, scope_);
  const Output placeholder =
      op("Placeholder").attr("dtype", dtype).attr("shape", shape).named(name);
  arguments_.push_back({placeholder, Output()});
  return placeholder;
}

Output FuncGraph::capture(const Output& outside) {
  if (&outside.graph() == this) return outside;
  const auto key = std::make_pair(outside.op, outside.index);
  const auto found = captured_.find(key);
  if (found != captured_.end()) return found->second;
  const Output inside = import_tensor(outside);
  captured_[key] = inside;
  return inside;
}

Output FuncGraph::import_tensor(const Output& outside) {
  if (&outside.graph() == forward_) {
    if (outside.op->def().is_constant) {
      const ControlDependencies none(*this, {}, true);
      const NameScope scope(*this, scope_);
      return constant(outside.op->attr<Tensor>("value"));
    }
    return capture(capture_forward_(outside));
  }
  if (&outside.graph() == &outer_) return add_capture(outside);
  return capture(outer_.capture(outside));
}

Output FuncGraph::add_capture(const Output& outside) {
  if (!is_resource_handle(outside) || !outside.op->inputs().empty()) {
    if (outside.dtype() == DType::kResource) {
      fail(Code::kUnimplemented, "Handle '", outside.name(),
           "' cannot be used in a function of tf$cond() or tf$while_loop().");
    }
    const Output placeholder = add_argument(outside.dtype(), outside.shape(), "Switch");
    arguments_.back().outside = outside;
    return placeholder;
  }
  const ControlDependencies none(*this, {}, true);
  Operation* copy =
      create_op(outside.op->type(), {}, outside.op->attrs(), outside.op->name() + "/");
  copy->payload = outside.op->payload;
  arguments_.push_back({copy->output(outside.index), outside});
  return arguments_.back().inside;
}

void FuncGraph::add_outer_control_input(Operation* outside) {
  if (outside->graph().is_function() && &outside->graph() == forward_) return;
  if (&outside->graph() != &outer_) return outer_.add_outer_control_input(outside);
  if (std::find(outer_control_inputs_.begin(), outer_control_inputs_.end(), outside) ==
      outer_control_inputs_.end()) {
    outer_control_inputs_.push_back(outside);
  }
}

void FuncGraph::unify_captures(const std::vector<FuncGraph*>& functions, size_t first) {
  std::vector<Output> all;
  for (const FuncGraph* function : functions) {
    for (size_t i = first; i < function->arguments_.size(); ++i) {
      const Output& outside = function->arguments_[i].outside;
      if (std::find(all.begin(), all.end(), outside) == all.end()) all.push_back(outside);
    }
  }
  for (FuncGraph* function : functions) {
    std::vector<Argument> arguments(
        function->arguments_.begin(),
        function->arguments_.begin() + static_cast<std::ptrdiff_t>(first));
    for (const Output& outside : all) {
      arguments.push_back({function->capture(outside), outside});
    }
    function->arguments_ = std::move(arguments);
  }
}

std::vector<Operation*> all_operations(const Graph& graph) {
  std::vector<Operation*> all;
  for (const auto& op : graph.operations()) {
    all.push_back(op.get());
    for (const FunctionPtr& function : functions_of(*op)) {
      const std::vector<Operation*> inner = all_operations(*function);
      all.insert(all.end(), inner.begin(), inner.end());
    }
  }
  return all;
}

std::vector<FunctionPtr> functions_of(const Operation& op) {
  std::vector<FunctionPtr> functions;
  if (!op.def().calls_functions) return functions;
  for (const auto& item : op.attrs().items()) {
    if (const auto* function = std::get_if<FunctionPtr>(&item.second)) {
      functions.push_back(*function);
    }
  }
  return functions;
}

bool any_nested_operation(const Operation& op, const std::function<bool(const Operation&)>& predicate) {
  if (predicate(op)) return true;
  for (const FunctionPtr& function : functions_of(op)) {
    for (const Operation* inner : needed_operations(*function)) {
      if (any_nested_operation(*inner, predicate)) return true;
    }
  }
  return false;
}

std::vector<std::string> modified_variables(const Operation& op) {
  std::vector<std::string> names;
  any_nested_operation(op, [&names](const Operation& inner) {
    for (const int input : inner.def().mutates) names.push_back(inner.input(input).op->name());
    return false;
  });
  return names;
}

std::vector<const Operation*> needed_operations(const FuncGraph& function) {
  std::vector<const Operation*> results, needed;
  for (const Output& result : function.results) results.push_back(result.op);
  for (const auto& entry : ancestors_of(results, Through::kInputsAndControl)) {
    needed.push_back(entry.second);
  }
  return needed;
}

}  // namespace runhooks
