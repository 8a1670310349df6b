// Name, variable and control-dependency scopes that R's with() opens and closes.
#include "estimators/models/canned.h"
#include "r/graph/graph_closure.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

const HandleKind kVariableOptions("runhooks_variable_options");

// The innermost scope is last; with() closes scopes in reverse order.
struct OpenScope {
  std::shared_ptr<Graph> graph;
  std::unique_ptr<NameScope> name;
  std::unique_ptr<VariableScope> variables;
  std::unique_ptr<ControlDependencies> control;
};

std::vector<OpenScope>& open_scopes() {
  static auto* scopes = new std::vector<OpenScope>;
  return *scopes;
}

Operation* control_input_of(SEXP x) {
  if (is_operation(x)) return operation_of(x);
  if (is_variable(x)) return variable_of(x)->snapshot.op;
  if (is_tensor(x)) return tensor_of(x).op;
  if (is_indexed_slices(x)) return gradient_from_r(x).values.op;
  invalid_argument("Control inputs must be operations, tensors or variables, not objects of type ",
                   Rf_type2char(TYPEOF(x)), ".");
}

std::vector<Operation*> control_inputs_from_r(SEXP list) {
  std::vector<Operation*> ops;
  const RList list_of_inputs(list, "the inputs");
  for (R_xlen_t i = 0; i < list_of_inputs.size(); ++i)
    ops.push_back(control_input_of(list_of_inputs[i]));
  return ops;
}

// A variable getter that calls an R function. Passes options that are C++ functions, such as an
// initializer, as handles.
struct RGetter {
  RFunctionPtr function;
  VariableGetterResult operator()(Graph& graph,
                                  const std::string& name,
                                  const Shape& shape,
                                  const VariableOptions& options) const {
    const DefaultGraph scope(graph.shared_from_this());
    auto copied_options = std::make_shared<VariableOptions>(options);
    Rcpp::Shield<SEXP> handle(make_handle(std::move(copied_options), kVariableOptions));
    Rcpp::Shield<SEXP> text(Rcpp::wrap(name)), dims(shape_to_r(shape));
    Rcpp::Shield<SEXP> type(text_to_r(dtype_name(options.dtype)));
    Rcpp::Shield<SEXP> collections(Rcpp::wrap(options.collections));
    Rcpp::Shield<SEXP> trainable(Rf_ScalarLogical(options.trainable));
    Rcpp::Shield<SEXP> last_arguments(Rf_list2(trainable, collections));
    Rcpp::Shield<SEXP> later_arguments(
        Rf_cons(dims, Rf_cons(type, Rf_cons(handle, last_arguments))));
    Rcpp::Shield<SEXP> arguments(Rf_cons(function->get(), Rf_cons(text, later_arguments)));
    Rcpp::Shield<SEXP> call(Rf_lcons(Rf_install("call_custom_getter"), arguments));
    Rcpp::Shield<SEXP> result(eval_r(call, package_namespace()));
    if (!is_variable(result)) return {nullptr, tensor_of(result)};
    const VariablePtr variable = variable_of(result);
    return {variable, variable->snapshot};
  }
};

std::shared_ptr<Graph> graph_or_default(SEXP graph) {
  return graph == R_NilValue ? default_graph() : graph_of(graph);
}

}  // namespace

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// Opens a name scope. Returns its full name with a trailing "/".
// [[Rcpp::export(rng = false)]]
std::string cpp_scope_open_name(SEXP graph, Text name) {
  return guarded_entry([&] {
    OpenScope scope;
    scope.graph = graph_or_default(graph);
    scope.name = std::make_unique<NameScope>(*scope.graph, name);
    const std::string full = scope.name->name();
    open_scopes().push_back(std::move(scope));
    return full;
  });
}

// Opens a variable scope. `reuse` is "never", "always", "auto", "unique", or "" to inherit. The
// `defaults` of variables are initializer, regularizer, constraint, dtype, use_resource,
// partitioner and getter; NULL inherits. With `is_absolute`, reopens the scope with this full name.
// [[Rcpp::export(rng = false)]]
std::string cpp_scope_open_variables(
    SEXP graph, Text name, Text reuse, SEXP defaults, bool is_absolute) {
  return guarded_entry([&] {
    OpenScope scope;
    scope.graph = graph_or_default(graph);
    // For "unique", append the first suffix that no variable scope uses.
    std::string unique_name = name;
    const VariableStore& store = scope.graph->variables();
    for (int i = 1; reuse == "unique" && store.has_scope(unique_name); ++i)
      unique_name = str_cat(name, "_", i);
    scope.variables = std::make_unique<VariableScope>(*scope.graph, unique_name);
    if (is_absolute) scope.variables->options().name = name;
    using Reuse = VariableStore::Reuse;
    if (reuse == "always") scope.variables->options().reuse = Reuse::kAlways;
    if (reuse == "auto") scope.variables->options().reuse = Reuse::kAuto;
    VariableStore::Scope& options = scope.variables->options();
    const RList default_list(defaults, "the defaults of variables");
    auto default_of = [&](const char* argument) { return default_list.find(argument); };
    if (default_of("initializer") != R_NilValue) {
      options.initializer = initializer_from_r(*scope.graph, default_of("initializer"));
    }
    if (default_of("regularizer") != R_NilValue) {
      options.regularizer = variable_transform_from_r(*scope.graph, default_of("regularizer"));
    }
    if (default_of("constraint") != R_NilValue) {
      options.constraint = variable_transform_from_r(*scope.graph, default_of("constraint"));
    }
    if (default_of("dtype") != R_NilValue) options.dtype = dtype_from_r(default_of("dtype"));
    if (default_of("use_resource") != R_NilValue) {
      options.use_resource = is_true(default_of("use_resource"));
    }
    if (default_of("partitioner") != R_NilValue) {
      Args args;
      args.set("partitioner", value_from_r(default_of("partitioner")));
      options.partitioner = partitioner_argument(args, "partitioner");
    }
    if (default_of("getter") != R_NilValue) {
      options.getter = RGetter{function_of_graph(*scope.graph, default_of("getter"))};
    }
    const std::string full = scope.variables->name();
    open_scopes().push_back(std::move(scope));
    return full;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_scope_getter() {
  return guarded_entry([&]() -> SEXP {
    const VariableGetter& getter = default_graph()->variables().current().getter;
    const auto* r_getter = getter.target<RGetter>();
    return r_getter ? r_getter->function->get() : R_NilValue;
  });
}

// Returns the names of the options that are functions: "initializer", "regularizer", "constraint".
// [[Rcpp::export(rng = false)]]
SEXP cpp_variable_option_names(SEXP handle) {
  return guarded_entry([&]() -> SEXP {
    const auto options = from_handle<VariableOptions>(handle, kVariableOptions);
    std::vector<std::string> names;
    if (options->initializer) names.emplace_back("initializer");
    if (options->regularizer) names.emplace_back("regularizer");
    if (options->constraint) names.emplace_back("constraint");
    return Rcpp::wrap(names);
  });
}

// Calls an option that is a function. An initializer is called with the shape `x` and the type
// `dtype`, other options with the tensor `x`.
// [[Rcpp::export(rng = false)]]
SEXP cpp_variable_option_call(SEXP handle, Text name, SEXP x, SEXP dtype) {
  return guarded_entry([&]() -> SEXP {
    const auto options = from_handle<VariableOptions>(handle, kVariableOptions);
    Output result;
    if (name == "initializer") {
      result = options->initializer(*default_graph(), shape_from_r(x), dtype_from_r(dtype));
    } else {
      const VariableTransform& function =
          name == "constraint" ? options->constraint : options->regularizer;
      result = function(*default_graph(), tensor_of(x));
    }
    return result ? tensor_handle(result) : R_NilValue;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_variable_scope() {
  return guarded_entry([&]() -> SEXP {
    const VariableStore::Scope& scope = default_graph()->variables().current();
    using Reuse = VariableStore::Reuse;
    return Rcpp::List::create(Rcpp::_["name"] = scope.name,
                              Rcpp::_["reuse"] = scope.reuse == Reuse::kAlways ? "always"
                                                 : scope.reuse == Reuse::kAuto ? "auto"
                                                                               : "never");
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_variable_scope_reuse() {
  guarded_entry(
      [&] { default_graph()->variables().current().reuse = VariableStore::Reuse::kAlways; });
}

// Opens a scope of control dependencies. `inputs` is a list; NULL clears outer dependencies.
// [[Rcpp::export(rng = false)]]
void cpp_scope_open_control(SEXP graph, SEXP inputs) {
  guarded_entry([&] {
    OpenScope scope;
    scope.graph = graph_or_default(graph);
    scope.control = std::make_unique<ControlDependencies>(
        *scope.graph, control_inputs_from_r(inputs), inputs == R_NilValue);
    open_scopes().push_back(std::move(scope));
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_scope_close() {
  guarded_entry([] {
    if (!open_scopes().empty()) open_scopes().pop_back();
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_graph_group(SEXP inputs, Text name) {
  return guarded_entry([&]() -> SEXP {
    const std::vector<Operation*> ops = control_inputs_from_r(inputs);
    const auto graph = ops.empty() ? default_graph() : graph_for(ops.front()->graph());
    return operation_handle(graph->group(ops, name));
  });
}
