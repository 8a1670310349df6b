#include "control/control_flow.h"

#include "r/graph/graph_closure.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

// Makes a function builder from an R closure that takes and returns a list of tensors. The builder
// adds the operations of the closure to the FuncGraph.
FunctionBuilder builder_from_r(SEXP closure) {
  return [closure](FuncGraph& graph, const std::vector<Output>& arguments) {
    const DefaultGraph scope(graph.shared_from_this());
    Rcpp::Shield<SEXP> handles(tensors_to_r(arguments));
    Rcpp::Shield<SEXP> results(call_r_function(closure, {handles}));
    return tensors_from_r(results, "the results of a function");
  };
}

// The gradient of an op that cpp_with_gradient() adds for tf.custom_gradient(). The op's inputs are
// the `num_results` results of a user's function, followed by the inputs of this function. The R
// closure takes the gradients of the results and returns the gradients of the function's inputs.
class RGradient : public GradientOverride {
 public:
  RGradient(Graph& graph, SEXP closure, size_t num_results)
      : closure_(function_of_graph(graph, closure)), num_results_(num_results) {}
  std::vector<Gradient> gradient(Graph& graph,
                                 Operation& op,
                                 const std::vector<Output>& dy) override {
    const DefaultGraph scope(graph.shared_from_this());
    Rcpp::Shield<SEXP> handles(tensors_to_r(
        std::vector<Output>(dy.begin(), dy.begin() + static_cast<std::ptrdiff_t>(num_results_))));
    Rcpp::Shield<SEXP> result(call_r_function(closure_->get(), {handles}));
    const RList gradient_list(result, "the gradients of a function");
    std::vector<Gradient> input_gradients(op.inputs().size());
    for (R_xlen_t i = 0; i < gradient_list.size(); ++i) {
      if (gradient_list[i] == R_NilValue) continue;
      input_gradients[num_results_ + static_cast<size_t>(i)] =
          graph.capture(tensor_of(gradient_list[i]));
    }
    return input_gradients;
  }

 private:
  RFunctionPtr closure_;
  size_t num_results_;
};

}  // namespace

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::export(rng = false)]]
SEXP cpp_cond(SEXP pred, SEXP true_fn, SEXP false_fn, Text name) {
  return guarded_entry([&]() -> SEXP {
    const Output condition = tensor_of(pred);
    return tensors_to_r(add_cond(*graph_for(condition.graph()), condition, builder_from_r(true_fn),
                                 builder_from_r(false_fn), name));
  });
}

// Adds a while loop. `cond` and `body` take and return lists of tensors. `shapes` is NULL, or the
// list of shape invariants of the loop variables.
// [[Rcpp::export(rng = false)]]
SEXP cpp_while(SEXP cond,
               SEXP body,
               SEXP variables,
               SEXP shapes,
               double parallel_iterations,
               SEXP maximum_iterations,
               Text name) {
  return guarded_entry([&]() -> SEXP {
    LoopOptions options;
    const RList invariants(shapes, "`shape_invariants`");
    for (R_xlen_t i = 0; i < invariants.size(); ++i) {
      options.shape_invariants.push_back(shape_from_r(invariants[i]));
    }
    options.parallel_iterations = whole_from_r(parallel_iterations, "`parallel_iterations`");
    if (maximum_iterations != R_NilValue)
      options.maximum_iterations = tensor_of(maximum_iterations);
    options.name = name;
    return tensors_to_r(add_while(*default_graph(), builder_from_r(cond), builder_from_r(body),
                                  tensors_from_r(variables, "`loop_vars`"), options));
  });
}

// Returns the tensors `results` of a function of `inputs`, with another gradient: `closure` takes
// the list of gradients of `results` and returns the gradients of `inputs`.
// [[Rcpp::export(rng = false)]]
SEXP cpp_with_gradient(SEXP results, SEXP inputs, SEXP closure) {
  return guarded_entry([&]() -> SEXP {
    const std::vector<Output> result_tensors = tensors_from_r(results, "the results of a function");
    std::vector<Output> identity_inputs = result_tensors;
    for (const Output& input : tensors_from_r(inputs, "the inputs of a function"))
      identity_inputs.push_back(input);
    Operation* op = default_graph()->op("IdentityN", identity_inputs);
    op->gradient_override = std::make_shared<RGradient>(op->graph(), closure, result_tensors.size());
    std::vector<Output> outputs = op->outputs();
    outputs.resize(result_tensors.size());
    return tensors_to_r(outputs);
  });
}

// Returns the trainable variables on which the tensors depend, ignoring paths through `stops`.
// [[Rcpp::export(rng = false)]]
SEXP cpp_variables_in_ancestors(SEXP tensors, SEXP stops) {
  return guarded_entry([&]() -> SEXP {
    const std::vector<Output> stop_tensors = tensors_from_r(stops, "`stops`");
    std::vector<Output> to_visit = tensors_from_r(tensors, "`tensors`");
    std::vector<const Operation*> visited;
    Rcpp::List result;
    while (!to_visit.empty()) {
      const Output x = to_visit.back();
      to_visit.pop_back();
      const bool is_stop =
          std::find(stop_tensors.begin(), stop_tensors.end(), x) != stop_tensors.end();
      if (is_stop || std::find(visited.begin(), visited.end(), x.op) != visited.end()) continue;
      visited.push_back(x.op);
      to_visit.insert(to_visit.end(), x.op->inputs().begin(), x.op->inputs().end());
      const auto* function = dynamic_cast<const FuncGraph*>(&x.graph());
      for (size_t i = 0; function && i < function->arguments().size(); ++i) {
        const auto& argument = function->arguments()[i];
        if (argument.inside.op == x.op && argument.outside) to_visit.push_back(argument.outside);
      }
      if (!x.op->def().holds_variable) continue;
      for (const VariablePtr& variable :
           variables_in(x.graph().root(), collection_keys::kTrainableVariables)) {
        if (variable->handle.op == x.op) result.push_back(variable_handle(variable));
      }
    }
    return result;
  });
}
