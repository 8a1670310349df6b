// Calls of the core's functions of graphs by their names below `tf`.
#include "graph/graph_function.h"
#include "runhooks_r.h"
#include "base/random.h"

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

// Seeds that nobody set come from R's generator, so that set.seed() alone makes a script repeat.
uint64_t seed_from_r() {
  Rcpp::Shield<SEXP> largest(Rf_ScalarInteger(2147483647)), one(Rf_ScalarInteger(1));
  Rcpp::Shield<SEXP> call(Rf_lang3(Rf_install("sample.int"), largest, one));
  Rcpp::Shield<SEXP> drawn(eval_r(call, R_BaseEnv));
  return static_cast<uint64_t>(Rf_asInteger(drawn));
}

[[maybe_unused]] const bool seeds_are_from_r = (set_seed_source(seed_from_r), true);

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP cpp_graph_function(Text name, SEXP arguments) {
  return border([&]() -> SEXP {
    const GraphFunction function = find_graph_function(name);
    std::string owner = "tf$" + name + "()";
    for (char& letter : owner) letter = letter == '.' ? '$' : letter;
    const auto args = args_from_r(arguments, owner);
    return value_to_r(function(*graph_of_arguments(*args), *args));
  });
}
