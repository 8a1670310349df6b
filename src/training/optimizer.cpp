#include "training/optimizer.h"

#include <algorithm>
#include <set>

#include "autodiff/gradients.h"
#include "graph/endpoints.h"
#include "nn/replicas.h"

namespace runhooks {

Output add_read_op(Graph& graph, const Variable& variable) {
  if (!variable.is_resource) return graph.op("Identity", {variable.handle});
  return graph.op("ReadVariableOp", {variable.handle}).attr("dtype", variable.dtype);
}

Operation* add_assign_op(Graph& graph, const Variable& variable, Output value) {
  const char* type = variable.is_resource ? "AssignVariableOp" : "Assign";
  return graph.op(type, {variable.handle, value});
}

namespace {

// Adds the training operation to the collection in which hooks look for it.
Operation* register_train_op(Graph& graph, Operation* train_op) {
  graph.add_to_collection(collection_keys::kTrainOp, train_op);
  return train_op;
}

// Averages the gradients over all processes, except gradients that are averages already.
void average_over_replicas(Graph& graph, std::vector<GradientAndVariable>& grads_and_vars) {
  const ReplicaScope* scope = ReplicaScope::of(graph);
  if (!scope) return;
  std::vector<size_t> indices;
  std::vector<Gradient> gradients;
  for (size_t i = 0; i < grads_and_vars.size(); ++i) {
    const Gradient& gradient = grads_and_vars[i].gradient;
    if (gradient.is_none() || scope->has_mean_gradients(gradient.values)) continue;
    indices.push_back(i);
    gradients.push_back(gradient);
  }
  if (indices.empty()) return;
  const NameScope names(graph, "all_replicas");
  const std::vector<Gradient> means = mean_gradients(graph, gradients);
  for (size_t k = 0; k < indices.size(); ++k) grads_and_vars[indices[k]].gradient = means[k];
}

}  // namespace

std::vector<GradientAndVariable> Optimizer::compute_gradients(Graph& graph,
                                                              Output loss,
                                                              std::vector<VariablePtr> variables,
                                                              Output grad_loss) {
  if (variables.empty()) variables = variables_in(graph, collection_keys::kTrainableVariables);
  if (variables.empty()) invalid_argument("No variables to optimize.");
  std::vector<Output> xs;
  for (const VariablePtr& variable : variables) xs.push_back(variable->handle);
  std::vector<Output> weights;
  if (grad_loss) weights.push_back(grad_loss);
  const std::vector<Gradient> grads = gradients(graph, {loss}, xs, weights);
  std::vector<GradientAndVariable> result;
  for (size_t i = 0; i < variables.size(); ++i) result.push_back({grads[i], variables[i]});
  average_over_replicas(graph, result);
  return result;
}

namespace {

// Sums rows with equal indices, as TensorFlow does. Most updates are not linear in the gradient, so
// applying the rows one after another would give a different result.
Gradient sum_duplicate_rows(Graph& graph, const Gradient& gradient) {
  if (!gradient.is_indexed_slices()) return gradient;
  if (gradient.indices.op->def().has_distinct_rows) return gradient;
  Operation* sums = graph.op("SumDuplicateRows", {gradient.values, gradient.indices});
  Gradient distinct = gradient;
  distinct.values = sums->output(0);
  distinct.indices = sums->output(1);
  return distinct;
}

Operation* apply_constraint(Graph& graph, const GradientAndVariable& pair, Operation* update) {
  const Variable& variable = *pair.variable;
  if (!variable.constraint) return update;
  if (pair.gradient.is_indexed_slices()) {
    fail(Code::kFailedPrecondition, "Cannot use a constraint function on a sparse variable; '",
         variable.name(), "' has one.");
  }
  const ControlDependencies after(graph, {update});
  return add_assign_op(graph, variable, variable.constraint(graph, add_read_op(graph, variable)));
}

}  // namespace

Operation* Optimizer::apply_gradients(Graph& graph,
                                      const std::vector<GradientAndVariable>& gradients,
                                      const VariablePtr& global_step,
                                      const std::string& name) {
  std::vector<GradientAndVariable> trained;
  std::vector<std::string> names;
  for (const GradientAndVariable& pair : gradients) {
    names.push_back(pair.variable->name());
    if (!pair.gradient.is_none()) trained.push_back(pair);
  }
  if (trained.empty()) {
    invalid_argument("No gradients provided for any variable: ", str_join(names, ", "), ".");
  }
  average_over_replicas(graph, trained);
  {
    // Slots must not inherit the caller's control dependencies.
    ControlDependencies none(graph, {}, true);
    for (const GradientAndVariable& pair : trained) create_slots(graph, pair.variable);
    create_non_slot_variables(graph, trained.front().variable);
  }
  NameScope scope(graph, name.empty() ? name_ : name);
  const std::string& first = trained.front().variable->op_name();
  submodel_ = first.substr(0, first.find('/'));
  prepare(graph);
  std::vector<Operation*> updates;
  for (const GradientAndVariable& pair : trained) {
    NameScope update_scope(graph, "update_" + pair.variable->op_name());
    Operation* update = apply(graph, *pair.variable, sum_duplicate_rows(graph, pair.gradient));
    updates.push_back(apply_constraint(graph, pair, update));
  }
  if (!global_step) {
    // As in TensorFlow, the training op is named after the name scope of the step.
    Operation* finished = finish(graph, updates);
    return register_train_op(graph, graph.op("NoOp").after({finished}).named(scope.name()));
  }
  ControlDependencies after(graph, {finish(graph, updates)});
  const Output one = graph.scalar(global_step->dtype, 1, "value");
  const char* type = global_step->is_resource ? "AssignAddVariableOp" : "AssignAdd";
  return register_train_op(graph, graph.op(type, {global_step->handle, one}).named(scope.name()));
}

Operation* Optimizer::minimize(Graph& graph,
                               Output loss,
                               const VariablePtr& global_step,
                               std::vector<VariablePtr> variables,
                               const std::string& name) {
  return apply_gradients(graph, compute_gradients(graph, loss, std::move(variables)), global_step,
                         name);
}

Operation* Optimizer::finish(Graph& graph, const std::vector<Operation*>& updates) {
  return graph.group(updates, "update");
}

std::vector<std::string> Optimizer::slot_names() const {
  std::set<std::string> names;
  for (const auto& entry : slots_) names.insert(entry.first.second);
  return {names.begin(), names.end()};
}

std::vector<VariablePtr> Optimizer::slots() const {
  std::vector<VariablePtr> result;
  for (const auto& entry : slots_) result.push_back(entry.second);
  return result;
}

VariablePtr Optimizer::slot(const Variable& variable, const std::string& slot_name) const {
  auto found = slots_.find({&variable, slot_name});
  return found == slots_.end() ? nullptr : found->second;
}

VariablePtr Optimizer::make_slot(Graph& graph,
                                 const VariablePtr& variable,
                                 const std::string& slot_name,
                                 const Initializer& initializer,
                                 const std::string& variable_name) {
  // Further training ops of the same optimizer share its slots.
  if (const VariablePtr existing = slot(*variable, slot_name)) return existing;
  VariableStore& store = graph.variables();
  const std::string base =
      variable->op_name() + "/" + (variable_name.empty() ? name_ : variable_name);
  const std::string prefix = store.current().name.empty() ? "" : store.current().name + "/";
  std::string name = base;
  for (int i = 1; store.find(prefix + name); ++i) name = str_cat(base, "_", i);
  VariableOptions options;
  options.dtype = variable->dtype;
  options.initializer = initializer;
  options.trainable = false;
  options.use_resource = variable->is_resource;
  VariablePtr slot = store.get(name, variable->shape, options);
  if (variable->slice) {
    // TensorFlow drops as many characters of the slot's name as the variable's name has, although
    // the slot's name may begin with a variable scope. Checkpoint keys depend on that, such as
    // "linear/linear_model/x/weights/part_0/Ftrl" and "dnn/hiddenlayer_0/kernel/t_0/Adagrad".
    auto slice = std::make_shared<SaveSliceInfo>(*variable->slice);
    slice->full_name += "/" + slot->op_name().substr(variable->op_name().size() + 1);
    slot->slice = slice;
  }
  slots_[{variable.get(), slot_name}] = slot;
  return slot;
}

// Returns the hyperparameter. Also publishes the learning rate as an endpoint of the graph, for
// hooks. In a model with several optimizers, each rate is named after its submodel ("dnn",
// "linear").
Output Optimizer::publish_hyperparameter(Graph& graph,
                                         const std::string& name,
                                         const double* fallback) {
  const Output value = hyperparameter_value(graph, name, fallback);
  if (name == "learning_rate") add_endpoint(graph, name, submodel_, value);
  return value;
}

Output Optimizer::hyperparameter_value(Graph& graph,
                                       const std::string& name,
                                       const double* fallback) {
  const Value* value = args_.find(name);
  if (value) {
    if (const auto* tensor = value->get_if<Output>()) return *tensor;
    if (const auto* variable = value->get_if<VariablePtr>()) return (*variable)->snapshot;
    if (const auto callable = value->get_if<std::shared_ptr<Callable>>()) {
      const Value result = (*callable)->call({});
      if (const auto* tensor = result.get_if<Output>()) return *tensor;
      if (const auto* variable = result.get_if<VariablePtr>()) return (*variable)->snapshot;
      double x;
      if (value_number(result, &x)) return graph.scalar(DType::kFloat32, x, name);
      invalid_argument("`", name, "` of ", args_.owner(),
                       " is a function; it must return a number or a tensor, not ", result.kind(),
                       ".");
    }
  }
  const double x = fallback ? args_.number(name, *fallback) : args_.number(name);
  return graph.scalar(DType::kFloat32, x, name);
}

bool Optimizer::is_penalized() const {
  const auto may_be_nonzero = [this](const std::string& name) {
    const Value* value = args_.find(name);
    // A tensor or function may have any value, so it counts as a nonzero penalty.
    if (!value) return false;
    if (const auto* integer = value->get_if<int64_t>()) return *integer != 0;
    const auto* real = value->get_if<double>();
    return !real || *real != 0;
  };
  const std::vector<std::string> names = penalty_arguments();
  return std::any_of(names.begin(), names.end(), may_be_nonzero);
}

Output Optimizer::hyperparameter(Graph& graph, const std::string& name, double fallback) {
  return publish_hyperparameter(graph, name, &fallback);
}

Output Optimizer::hyperparameter(Graph& graph, const std::string& name) {
  return publish_hyperparameter(graph, name, nullptr);
}

Output Optimizer::cast_like(Graph& graph, Output x, const Variable& variable) {
  if (x.dtype() == variable.dtype) return x;
  return graph.op("Cast", {x}).attr("DstT", variable.dtype);
}

Operation* Optimizer::apply_op(Graph& graph,
                               const char* name,
                               const Variable& variable,
                               const Gradient& gradient,
                               const std::vector<std::string>& slots,
                               const std::vector<Output>& inputs,
                               const AttrMap& attrs) {
  std::vector<Output> inputs_and_slots = {variable.handle};
  for (const std::string& slot_name : slots)
    inputs_and_slots.push_back(slot(variable, slot_name)->handle);
  for (const Output& input : inputs) {
    inputs_and_slots.push_back(input);
    if (gradient.is_indexed_slices() && input == gradient.values)
      inputs_and_slots.push_back(gradient.indices);
  }
  const std::string type = str_cat(variable.is_resource ? "Resource" : "",
                                   gradient.is_indexed_slices() ? "Sparse" : "", "Apply", name);
  AttrMap with_type = attrs;
  with_type.set("T", variable.dtype);
  return graph.create_op(type, inputs_and_slots, with_type, type);
}

std::shared_ptr<Optimizer> make_optimizer(const std::string& type, const Args& args) {
  return Factory<Optimizer>::instance().make("optimizer", type, args);
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const auto& entry : Factory<Optimizer>::instance().entries()) {
    if (!entry.endpoint.empty()) names.push_back(entry.type);
  }
  return names;
}

}  // namespace runhooks
