// Variables, gradients and optimizers in graphs that R code builds.
#include "training/optimizer.h"

#include <algorithm>
#include <map>

#include "autodiff/gradients.h"
#include "nn/initializer.h"
#include "r/graph/graph_closure.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/named_values.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

std::shared_ptr<Optimizer> optimizer_from_r(SEXP spec) {
  const auto spec_args = spec_from_r(spec, "an optimizer");
  const Args& args = *spec_args;
  return make_optimizer(args.text("type"), args);
}

// The optimizer that an R object has created in a graph. Later calls reuse it to find its slots.
struct OptimizerInGraph {
  std::weak_ptr<Graph> graph;
  std::shared_ptr<Optimizer> optimizer;
};
const HandleKind kOptimizer("runhooks_optimizer_in_graph");
SEXP optimizer_symbol() { return Rf_install("made"); }

std::shared_ptr<Optimizer> optimizer_in(SEXP state) {
  if (state == R_NilValue) return nullptr;
  if (TYPEOF(state) != ENVSXP || Rf_isObject(state)) {
    invalid_argument("The state of an optimizer must be a plain environment.");
  }
  SEXP handle = frame_variable(state, optimizer_symbol());
  if (!is_handle(handle, kOptimizer)) return nullptr;
  return from_handle<OptimizerInGraph>(handle, kOptimizer)->optimizer;
}

std::shared_ptr<Optimizer> optimizer_for(Graph& graph, SEXP spec, SEXP state) {
  if (TYPEOF(state) != ENVSXP) return optimizer_from_r(spec);
  SEXP cached_handle = frame_variable(state, optimizer_symbol());
  if (is_handle(cached_handle, kOptimizer)) {
    const auto& cached = from_handle<OptimizerInGraph>(cached_handle, kOptimizer);
    if (cached->graph.lock().get() == &graph) return cached->optimizer;
  }
  auto created = std::make_shared<OptimizerInGraph>();
  created->graph = graph.shared_from_this();
  const NewFunctions functions =
      collect_new_closures([&] { created->optimizer = optimizer_from_r(spec); });
  const std::shared_ptr<Optimizer> optimizer = created->optimizer;
  Rcpp::Shield<SEXP> handle(make_handle(std::move(created), kOptimizer));
  transfer_to(handle, functions);
  Rf_defineVar(optimizer_symbol(), handle, state);
  return optimizer;
}

std::vector<VariablePtr> variables_from_r(SEXP list) {
  std::vector<VariablePtr> variables;
  const RList handles(list, "the variables");
  for (R_xlen_t i = 0; i < handles.size(); ++i) variables.push_back(variable_of(handles[i]));
  return variables;
}

std::vector<Output> targets_from_r(SEXP list) {
  std::vector<Output> tensors;
  const RList handles(list, "the tensors");
  for (R_xlen_t i = 0; i < handles.size(); ++i) {
    SEXP x = handles[i];
    tensors.push_back(is_variable(x) ? variable_of(x)->handle : tensor_of(x));
  }
  return tensors;
}

}  // namespace

namespace runhooks {
namespace r {

VariableTransform variable_transform_from_r(Graph& owner, SEXP x) {
  if (x == R_NilValue) return nullptr;
  const auto function = function_of_graph(owner, function_from_r(x, "a regularizer or constraint"));
  return [function](Graph& graph, Output value) -> Output {
    const DefaultGraph scope(graph.shared_from_this());
    Rcpp::Shield<SEXP> tensor(tensor_handle(value));
    Rcpp::Shield<SEXP> result(call_r_function(function->get(), {tensor}));
    return result == R_NilValue ? Output() : tensor_of(result);
  };
}

Initializer initializer_from_r(Graph& owner, SEXP x) {
  if (!Rf_isFunction(x) || Rf_inherits(x, "runhooks_initializer") ||
      Rf_inherits(x, "runhooks_initializer_class")) {
    return initializer_of(value_from_r(x), "initializer");
  }
  const auto function = function_of_graph(owner, x);
  return [function](Graph& graph, const Shape& shape, DType dtype) {
    const DefaultGraph scope(graph.shared_from_this());
    Rcpp::Shield<SEXP> dims(shape_to_r(shape));
    Rcpp::Shield<SEXP> type(text_to_r(dtype_name(dtype)));
    Rcpp::Shield<SEXP> value(call_r_function(function->get(), {dims, type}));
    return tensor_of(value);
  };
}

bool is_indexed_slices(SEXP x) {
  return TYPEOF(x) == VECSXP && Rf_inherits(x, "tensorflow.indexed_slices");
}

SEXP gradient_to_r(const Gradient& gradient) {
  if (gradient.is_none()) return R_NilValue;
  if (!gradient.is_indexed_slices()) return tensor_handle(gradient.values);
  Rcpp::Shield<SEXP> slices(named_list({"values", "indices", "dense_shape"}));
  SET_VECTOR_ELT(slices, 0, tensor_handle(gradient.values));
  SET_VECTOR_ELT(slices, 1, tensor_handle(gradient.indices));
  if (gradient.dense_shape) SET_VECTOR_ELT(slices, 2, tensor_handle(gradient.dense_shape));
  Rcpp::Shield<SEXP> name(text_to_r("tensorflow.indexed_slices"));
  Rf_setAttrib(slices, R_ClassSymbol, name);
  return slices;
}

Gradient gradient_from_r(SEXP x) {
  if (x == R_NilValue) return Gradient();
  if (!is_indexed_slices(x)) return tensor_of(x);
  Gradient gradient = tensor_of(list_element(x, "values"));
  gradient.indices = tensor_of(list_element(x, "indices"));
  SEXP shape = list_element(x, "dense_shape");
  if (shape != R_NilValue) gradient.dense_shape = tensor_of(shape);
  return gradient;
}

}  // namespace r
}  // namespace runhooks

// Adds a reference variable, like tf.Variable in TensorFlow 1.x.
// [[Rcpp::export(rng = false)]]
SEXP cpp_variable_new(SEXP initial_value, Text name, bool trainable, Texts collections, SEXP more) {
  return guarded_entry([&]() -> SEXP {
    const Output value = tensor_of(initial_value);
    VariableOptions options;
    options.collections = collections;
    options.dtype = value.dtype();
    options.trainable = trainable;
    const RList option_list(more, "the options of a variable");
    const auto graph = graph_for(value.graph());
    options.constraint = variable_transform_from_r(*graph, option_list.find("constraint"));
    options.use_resource = is_true(option_list.find("use_resource"));
    return variable_handle(make_variable(*graph, value, name, options));
  });
}

// Like tf.get_variable(). `initializer` is NULL, a specification (a list with `type`), a tensor, or
// a function of shape and type name that returns a tensor. `more` is a list of regularizer,
// constraint, use_resource and is_full. is_full is TRUE if `name` includes the scope.
// [[Rcpp::export(rng = false)]]
SEXP cpp_variable_get(Text name,
                      SEXP shape,
                      SEXP dtype,
                      SEXP initializer,
                      bool trainable,
                      Texts collections,
                      SEXP more) {
  return guarded_entry([&]() -> SEXP {
    VariableOptions options;
    const auto graph = default_graph();
    VariableStore& store = graph->variables();
    const DType requested = dtype_from_r(dtype);
    options.dtype = requested == DType::kInvalid ? store.current().dtype : requested;
    const RList option_list(more, "the options of a variable");
    options.regularizer = variable_transform_from_r(*graph, option_list.find("regularizer"));
    options.constraint = variable_transform_from_r(*graph, option_list.find("constraint"));
    options.use_resource = is_true(option_list.find("use_resource"));
    options.trainable = trainable;
    options.collections = collections;
    Shape dims = shape_from_r(shape);
    if (is_tensor(initializer)) {
      const Output value = tensor_of(initializer);
      options.dtype = value.dtype();
      options.initializer = [value](Graph&, const Shape&, DType) { return value; };
      dims = value.shape();
    } else if (initializer != R_NilValue) {
      options.initializer = initializer_from_r(*graph, initializer);
    }
    if (store.current().partitioner) {
      throw Error(Code::kUnimplemented,
                  "`tf$get_variable()` cannot split variables, but the scope has a `partitioner`.",
                  {"Use layers (`tf$layers`) or feature columns."});
    }
    return variable_handle(is_true(option_list.find("is_full"))
                               ? store.get_by_full_name(name, dims, options)
                               : store.get(name, dims, options));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_variables_initializer(Text collection) {
  return guarded_entry([&]() -> SEXP {
    const auto graph = default_graph();
    std::vector<Operation*> initializers;
    for (const VariablePtr& variable : variables_in(*graph, collection)) {
      initializers.push_back(variable->initializer);
    }
    return operation_handle(graph->group(initializers, "init"));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_global_step(SEXP graph, bool create) {
  return guarded_entry([&]() -> SEXP {
    const auto target = graph == R_NilValue ? default_graph() : graph_of(graph);
    const VariablePtr step = create ? get_or_create_global_step(*target) : global_step(*target);
    return step ? variable_handle(step) : R_NilValue;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_variable_initializer(SEXP variable) {
  return guarded_entry([&] { return operation_handle(variable_of(variable)->initializer); });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_variable_initial_value(SEXP variable) {
  return guarded_entry([&] { return tensor_handle(variable_of(variable)->initial_value); });
}

// [[Rcpp::export(rng = false)]]
void cpp_variable_set_initial_value(SEXP variable, SEXP value) {
  guarded_entry([&] {
    const VariablePtr v = variable_of(variable);
    const Output initial = tensor_of(value);
    const char* type = v->is_resource ? "AssignVariableOp" : "Assign";
    v->initializer = v->graph().op(type, {v->handle, initial});
    v->initial_value = initial;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_gradients(SEXP ys, SEXP xs, SEXP grad_ys, SEXP stop_gradients, Text name) {
  return guarded_entry([&]() -> SEXP {
    const std::vector<Output> targets = targets_from_r(ys);
    if (targets.empty()) invalid_argument("`ys` must have at least one tensor.");
    const auto grads = gradients(*graph_for(targets[0].graph()), targets, targets_from_r(xs),
                                 targets_from_r(grad_ys), targets_from_r(stop_gradients), name);
    return list_to_r(grads, gradient_to_r);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_dense_gradient(SEXP gradient) {
  return guarded_entry([&]() -> SEXP {
    const Gradient rows = gradient_from_r(gradient);
    if (rows.is_none()) invalid_argument("The gradient is NULL.");
    return tensor_handle(dense_gradient(*graph_for(rows.values.graph()), rows));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_optimizer_compute_gradients(SEXP spec, SEXP loss, SEXP variables, SEXP grad_loss) {
  return guarded_entry([&]() -> SEXP {
    const Output target = tensor_of(loss);
    const Output weight = grad_loss == R_NilValue ? Output() : tensor_of(grad_loss);
    const auto grads_and_vars = optimizer_from_r(spec)->compute_gradients(
        *graph_for(target.graph()), target, variables_from_r(variables), weight);
    return list_to_r(grads_and_vars, [](const GradientAndVariable& pair) {
      Rcpp::Shield<SEXP> gradient(gradient_to_r(pair.gradient));
      return Rcpp::List::create(gradient, variable_handle(pair.variable));
    });
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_optimizer_apply_gradients(
    SEXP spec, SEXP state, SEXP grads_and_vars, SEXP global_step, SEXP name) {
  return guarded_entry([&]() -> SEXP {
    std::vector<GradientAndVariable> pairs;
    const RList pair_list(grads_and_vars, "the pairs of gradients and variables");
    for (R_xlen_t i = 0; i < pair_list.size(); ++i) {
      const RList pair(pair_list[i], "a gradient and its variable");
      GradientAndVariable entry;
      entry.gradient = gradient_from_r(pair[0]);
      entry.variable = variable_of(pair[1]);
      pairs.push_back(entry);
    }
    if (pairs.empty()) invalid_argument("No variables provided.");
    const VariablePtr step = global_step == R_NilValue ? nullptr : variable_of(global_step);
    const auto target = graph_for(pairs[0].variable->graph());
    Graph& graph = *target;
    // An optimizer that is written in R adds operations to the default graph.
    const DefaultGraph scope(target);
    return operation_handle(
        optimizer_for(graph, spec, state)
            ->apply_gradients(graph, pairs, step, name == R_NilValue ? "" : string_from_r(name)));
  });
}

// Returns the slot variable `name` of a variable, or NULL if the optimizer has no such slot.
// [[Rcpp::export(rng = false)]]
SEXP cpp_optimizer_slot(SEXP state, SEXP variable, Text name) {
  return guarded_entry([&]() -> SEXP {
    const std::shared_ptr<Optimizer> optimizer = optimizer_in(state);
    const VariablePtr target = variable_of(variable);
    const VariablePtr slot = optimizer ? optimizer->slot(*target, name) : nullptr;
    return slot ? variable_handle(slot) : R_NilValue;
  });
}

// [[Rcpp::export(rng = false)]]
std::vector<std::string> cpp_optimizer_slot_names(SEXP state) {
  return guarded_entry([&] {
    const std::shared_ptr<Optimizer> optimizer = optimizer_in(state);
    return optimizer ? optimizer->slot_names() : std::vector<std::string>();
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_optimizer_variables(SEXP state) {
  return guarded_entry([&]() -> SEXP {
    const std::shared_ptr<Optimizer> optimizer = optimizer_in(state);
    std::map<std::string, VariablePtr> by_name;
    if (optimizer) {
      for (const VariablePtr& own : optimizer->non_slot_variables()) by_name[own->name()] = own;
      for (const VariablePtr& slot : optimizer->slots()) by_name[slot->name()] = slot;
    }
    Rcpp::List list(static_cast<R_xlen_t>(by_name.size()));
    R_xlen_t at = 0;
    for (const auto& entry : by_name) list[at++] = variable_handle(entry.second);
    return list;
  });
}

// [[Rcpp::export(rng = false)]]
std::vector<std::string> cpp_optimizer_names() {
  return guarded_entry([] { return optimizer_names(); });
}

// [[Rcpp::export(rng = false)]]
std::vector<std::string> cpp_full_batch_optimizers() {
  return guarded_entry([] {
    std::vector<std::string> names;
    for (const auto& entry : Factory<Optimizer>::instance().entries()) {
      const auto& specs = entry.arguments();
      // Skips optimizers that cannot be constructed from defaults.
      const bool has_defaults = std::none_of(
          specs.begin(), specs.end(), [](const ArgSpec& spec) { return spec.fallback.empty(); });
      if (has_defaults && entry.make(Args(entry.type))->needs_all_rows()) {
        names.push_back(entry.type);
      }
    }
    return names;
  });
}

// Whether the optimizer adds a penalty to the loss, which changes the optimum.
// [[Rcpp::export(rng = false)]]
bool cpp_optimizer_is_penalized(SEXP spec) {
  return guarded_entry([&] {
    const auto args = spec_from_r(spec, "an optimizer");
    return make_optimizer(args->text("type"), *args)->is_penalized();
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_optimizer_check(SEXP spec) {
  guarded_entry([&] {
    const auto args = spec_from_r(spec, "an optimizer");
    Factory<Optimizer>::instance().check("optimizer", args->text("type"), *args);
  });
}
