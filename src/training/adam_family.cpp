#include "training/adam_family.h"

namespace runhooks {

namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999;

}  // namespace

AdamFamily::AdamFamily(const std::string& name,
                       const Args& args,
                       double default_epsilon,
                       bool has_beta2_power)
    : Optimizer(name, args), default_epsilon_(default_epsilon), has_beta2_power_(has_beta2_power) {}

void AdamFamily::create_slots(Graph& graph, const VariablePtr& variable) {
  make_slot(graph, variable, "m", zeros_initializer());
  make_slot(graph, variable, "v", zeros_initializer());
}

void AdamFamily::create_non_slot_variables(Graph& graph, const VariablePtr& first) {
  if (beta1_power_) return;
  VariableOptions options;
  options.trainable = false;
  options.use_resource = first->is_resource;
  auto make_power = [&](const char* beta, double default_value, const char* name) {
    const Output initial = graph.scalar(DType::kFloat32, args().number(beta, default_value),
                                        str_cat(name, "/initial_value"));
    return make_variable(graph, initial, name, options);
  };
  beta1_power_ = make_power("beta1", kBeta1, "beta1_power");
  if (has_beta2_power_) beta2_power_ = make_power("beta2", kBeta2, "beta2_power");
}

std::vector<VariablePtr> AdamFamily::non_slot_variables() const {
  std::vector<VariablePtr> variables;
  for (const VariablePtr& power : {beta1_power_, beta2_power_}) {
    if (power) variables.push_back(power);
  }
  return variables;
}

void AdamFamily::prepare(Graph& graph) {
  learning_rate_ = hyperparameter(graph, "learning_rate", 0.001);
  beta1_ = hyperparameter(graph, "beta1", kBeta1);
  beta2_ = hyperparameter(graph, "beta2", kBeta2);
  epsilon_ = hyperparameter(graph, "epsilon", default_epsilon_);
}

std::vector<Output> AdamFamily::shared_inputs(Graph& graph, const Variable& variable) const {
  std::vector<Output> inputs = {cast_like(graph, beta1_power_->snapshot, variable)};
  if (has_beta2_power_) inputs.push_back(cast_like(graph, beta2_power_->snapshot, variable));
  for (const Output& x : {learning_rate_, beta1_, beta2_, epsilon_}) {
    inputs.push_back(cast_like(graph, x, variable));
  }
  return inputs;
}

Operation* AdamFamily::finish(Graph& graph, const std::vector<Operation*>& updates) {
  std::vector<Operation*> all_updates = updates;
  {
    ControlDependencies after(graph, updates);
    std::vector<std::pair<VariablePtr, Output>> powers = {{beta1_power_, beta1_}};
    if (has_beta2_power_) powers.emplace_back(beta2_power_, beta2_);
    std::vector<Output> next;
    for (const auto& power : powers) {
      next.push_back(graph.op("Mul", {power.first->snapshot, power.second}).named("mul"));
    }
    const char* type = beta1_power_->is_resource ? "AssignVariableOp" : "Assign";
    for (size_t i = 0; i < powers.size(); ++i) {
      all_updates.push_back(graph.op(type, {powers[i].first->handle, next[i]}).named("Assign"));
    }
  }
  return graph.group(all_updates, "update");
}

}  // namespace runhooks
