#include "training/init_from_checkpoint.h"

#include "base/near_names.h"
#include "training/export_saver.h"
#include "training/saver.h"

namespace runhooks {

namespace {

using Pairs = std::vector<std::pair<std::string, VariablePtr>>;

bool is_scope(const std::string& name) { return name.empty() || name.back() == '/'; }

// All variables that are saved under this name: one, or its parts.
std::vector<VariablePtr> variables_called(const Graph& graph, const std::string& name) {
  std::vector<VariablePtr> found;
  std::vector<std::string> names;
  for (const VariablePtr& variable : variables_in(graph, collection_keys::kGlobalVariables)) {
    if (variable->save_name() == name) found.push_back(variable);
    names.push_back(variable->save_name());
  }
  if (found.empty()) {
    throw Error(Code::kInvalidArgument, str_cat("Variable ", name, " is not found in the graph."),
                near_hint(name, names));
  }
  return found;
}

void add_scope(const Graph& graph, const InitAssignment& assignment, Pairs& pairs) {
  if (!is_scope(assignment.in_checkpoint)) {
    invalid_argument("Assignment map with scope only name ", assignment.name,
                     " should map to scope only ", assignment.in_checkpoint,
                     ". Should be 'scope/': 'other_scope/'.");
  }
  const std::string from = assignment.in_checkpoint == "/" ? "" : assignment.in_checkpoint;
  const std::string to = assignment.name == "/" ? "" : assignment.name;
  bool is_used = false;
  for (const VariablePtr& variable : variables_in(graph, collection_keys::kGlobalVariables)) {
    const std::string& name = variable->save_name();
    if (name.rfind(to, 0) != 0) continue;
    pairs.emplace_back(from + name.substr(to.size()), variable);
    is_used = true;
  }
  if (!is_used) invalid_argument("The graph has no variable in the scope '", assignment.name, "'.");
}

Pairs pairs_of(const Graph& graph, const std::vector<InitAssignment>& assignments) {
  Pairs pairs;
  for (const InitAssignment& assignment : assignments) {
    if (assignment.variables.empty() && is_scope(assignment.name)) {
      add_scope(graph, assignment, pairs);
      continue;
    }
    const auto variables = assignment.variables.empty() ? variables_called(graph, assignment.name)
                                                        : assignment.variables;
    for (const VariablePtr& variable : variables) {
      const bool into_scope = is_scope(assignment.in_checkpoint);
      const std::string from = assignment.in_checkpoint == "/" ? "" : assignment.in_checkpoint;
      pairs.emplace_back(into_scope ? from + variable->save_name() : from, variable);
    }
  }
  return pairs;
}

void restore_at_init(Graph& graph,
                     const std::string& checkpoint,
                     const std::string& key,
                     Variable& variable) {
  const NameScope root(graph, "");
  const ControlDependencies none(graph, {}, /*clears=*/true);
  const NameScope scope(graph, "init_from_checkpoint");
  const auto text = [&](const std::string& x, const char* name) {
    return graph.constant(Tensor::strings(Shape{1}, {x}), name);
  };
  Operation* read =
      graph
          .op("RestoreV2", {graph.constant(Tensor::string_scalar(checkpoint), "prefix"),
                            text(key, "tensor_names"), text(slice_spec(variable), "shape_and_slices")})
          .attr("dtypes", std::vector<DType>{variable.dtype})
          .build();
  const Output value = read->output(0);
  read->set_output_shape(0, variable.shape);
  variable.initial_value = value;
  variable.initializer =
      variable.is_resource
          ? graph.op("AssignVariableOp", {variable.handle, value}).build()
          : graph.op("Assign", {variable.handle, value}).build();
}

}  // namespace

void init_from_checkpoint(Graph& graph,
                          const std::string& checkpoint,
                          const std::vector<InitAssignment>& assignments) {
  const Pairs pairs = pairs_of(graph, assignments);
  std::vector<VariablePtr> variables;
  std::vector<std::string> keys;
  for (const auto& pair : pairs) {
    keys.push_back(pair.first);
    variables.push_back(pair.second);
  }
  read_variables(checkpoint, variables, keys);  // says what does not fit
  for (const auto& pair : pairs) restore_at_init(graph, checkpoint, pair.first, *pair.second);
}

}  // namespace runhooks
