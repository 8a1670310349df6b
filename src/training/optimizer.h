// Optimizer, the base of all optimizers: gradients, slots, and the operations of one training step.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/factory.h"
#include "graph/variable.h"

namespace runhooks {

struct GradientAndVariable {
  Gradient gradient;
  VariablePtr variable;
};

// As tf.train.Optimizer of TensorFlow 1.x: what it adds to the graph, and under which names, is
// TensorFlow's.
class Optimizer {
 public:
  // `name` is the default of the name scope and of the slots ("Ftrl").
  Optimizer(std::string name, Args args) : name_(std::move(name)), args_(std::move(args)) {}
  virtual ~Optimizer() = default;

  const std::string& name() const { return name_; }
  // Whether it does its work where each step sees all rows of the data.
  virtual bool wants_all_rows() const { return false; }
  // Its arguments that draw weights towards 0, so that the optimum is another one than the data's.
  virtual std::vector<std::string> penalties() const { return {}; }
  bool is_penalized() const;

  // Gradients of the loss with respect to `variables`, by default all trainable ones; `grad_loss`,
  // if given, is what the loss's own gradient is taken to be.
  std::vector<GradientAndVariable> compute_gradients(Graph& graph,
                                                     Output loss,
                                                     std::vector<VariablePtr> variables = {},
                                                     Output grad_loss = Output());
  // The operation of a step: updates every variable that has a gradient, then adds 1 to
  // `global_step`, if given.
  Operation* apply_gradients(Graph& graph,
                             const std::vector<GradientAndVariable>& gradients,
                             const VariablePtr& global_step,
                             const std::string& name = "");
  Operation* minimize(Graph& graph,
                      Output loss,
                      const VariablePtr& global_step,
                      std::vector<VariablePtr> variables = {},
                      const std::string& name = "");

  // The slot of a variable ("momentum"), NULL where there is none.
  VariablePtr slot(const Variable& variable, const std::string& slot_name) const;
  std::vector<std::string> slot_names() const;
  std::vector<VariablePtr> slots() const;
  // Variables that are of no one variable (Adam's beta1_power).
  virtual std::vector<VariablePtr> own_variables() const { return {}; }

 protected:
  // Makes the slots of a variable with make_slot().
  virtual void create_slots(Graph&, const VariablePtr&) {}
  // Variables of the optimizer itself; `first` is the first of the variables that are trained.
  virtual void create_own_variables(Graph&, const VariablePtr& /*first*/) {}
  // The inputs that all updates share, made once in the name scope of the step.
  virtual void prepare(Graph&) {}
  // The update of one variable. A gradient of rows comes with distinct indices.
  virtual Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) = 0;
  // What follows the updates; the step waits for it.
  virtual Operation* finish(Graph& graph, const std::vector<Operation*>& updates);

  const Args& args() const { return args_; }
  // Its variable is called as the optimizer, or `variable_name`.
  VariablePtr make_slot(Graph& graph,
                        const VariablePtr& variable,
                        const std::string& slot_name,
                        const Initializer& initializer,
                        const std::string& variable_name = "");
  // A hyperparameter as a constant named after itself, or the tensor or function that was given for
  // it.
  Output hyperparameter(Graph& graph, const std::string& name, double otherwise);
  Output hyperparameter(Graph& graph, const std::string& name);
  // The scalar `x` in the variable's type.
  static Output like(Graph& graph, Output x, const Variable& variable);

  // Adds the op Apply<name>, or ResourceApply<name> for a resource variable: references first, then
  // the other inputs, of which gradient.values is one. For a gradient of rows it is the op
  // SparseApply<name> or ResourceSparseApply<name>, which has the indices behind that one.
  Operation* apply_op(Graph& graph,
                      const char* name,
                      const Variable& variable,
                      const Gradient& gradient,
                      const std::vector<std::string>& slots,
                      const std::vector<Output>& inputs,
                      const AttrMap& attrs = {});

 private:
  Output given_or(Graph& graph, const std::string& name, const double* otherwise);
  Output given_value(Graph& graph, const std::string& name, const double* otherwise);

  std::string name_;
  std::string part_;  // of the model: the first part of its variables' names
  Args args_;
  std::map<std::pair<const Variable*, std::string>, VariablePtr> slots_;
};

// Makes an optimizer by its name ("Ftrl", "SGD", ...). Bad hyperparameters throw an error that
// names them.
std::shared_ptr<Optimizer> make_optimizer(const std::string& type, const Args& args);
// Those that scripts may call by their names alone.
std::vector<std::string> optimizer_names();

// Registers an optimizer class under `type`, the name that estimators know it by, and says how
// scripts make one and what its arguments may be, see ArgSpec. `use_locking` is taken and without
// effect: the updates of one variable never overlap.
#define RUNHOOKS_REGISTER_OPTIMIZER(type, Class, ...)                                      \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(optimizer_registered_, __COUNTER__) = \
      ::runhooks::Factory<::runhooks::Optimizer>::instance().add(                          \
          type,                                                                            \
          [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::Optimizer> {     \
            return std::make_shared<Class>(args);                                          \
          },                                                                               \
          __VA_ARGS__)

}  // namespace runhooks
