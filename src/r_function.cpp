// Calls of the core's functions of graphs by their names below `tf`.
#include "graph/graph_function.h"
#include "runhooks_r.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

// The graph of the first tensor among the arguments.
Graph* graph_of_value(const Value& value) {
  if (const auto* tensor = value.get_if<Output>()) return &tensor->graph();
  if (const auto* variable = value.get_if<VariablePtr>()) return &(*variable)->graph();
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    for (const Value& element : **list) {
      if (Graph* graph = graph_of_value(element)) return graph;
    }
  }
  return nullptr;
}

std::shared_ptr<Graph> graph_of_arguments(const Args& args) {
  for (const auto& item : args.items()) {
    if (Graph* graph = graph_of_value(item.second)) return graph->shared_from_this();
  }
  return default_graph();
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP cpp_graph_function(std::string name, SEXP arguments) {
  return border([&]() -> SEXP {
    const GraphFunction function = find_graph_function(name);
    std::string owner = "tf$" + name + "()";
    for (char& letter : owner) letter = letter == '.' ? '$' : letter;
    const auto args = args_from_r(arguments, owner);
    return value_to_r(function(*graph_of_arguments(*args), *args));
  });
}
