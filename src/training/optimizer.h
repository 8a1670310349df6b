// Optimizer: base class of all optimizers, which builds the operations of a training step.
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

// Adds operations that read and assign a reference or resource variable.
Output add_read_op(Graph& graph, const Variable& variable);
Operation* add_assign_op(Graph& graph, const Variable& variable, Output value);

// tf.train.Optimizer of TensorFlow 1.x: adds the same operations to the graph, with the same names.
class Optimizer {
 public:
  // `name` is the default name of the name scope and of the slots ("Ftrl").
  Optimizer(std::string name, Args args) : name_(std::move(name)), args_(std::move(args)) {}
  virtual ~Optimizer() = default;

  const std::string& name() const { return name_; }
  // True for full-batch methods, which need all rows of the data in each step.
  virtual bool needs_all_rows() const { return false; }
  // Returns the names of the arguments that add a penalty on weights, which changes the optimum.
  virtual std::vector<std::string> penalty_arguments() const { return {}; }
  // True if one of these arguments may be nonzero.
  bool is_penalized() const;

  // Returns the gradients of the loss with respect to `variables`, by default all trainable ones.
  // `grad_loss` is the gradient of the loss itself, by default 1.
  std::vector<GradientAndVariable> compute_gradients(Graph& graph,
                                                     Output loss,
                                                     std::vector<VariablePtr> variables = {},
                                                     Output grad_loss = Output());
  // Returns the training op, which updates each variable that has a gradient. It then adds 1 to
  // `global_step` unless that is NULL.
  Operation* apply_gradients(Graph& graph,
                             const std::vector<GradientAndVariable>& gradients,
                             const VariablePtr& global_step,
                             const std::string& name = "");
  Operation* minimize(Graph& graph,
                      Output loss,
                      const VariablePtr& global_step,
                      std::vector<VariablePtr> variables = {},
                      const std::string& name = "");

  // Returns the slot of a variable, such as "momentum", or NULL if the variable does not have it.
  VariablePtr slot(const Variable& variable, const std::string& slot_name) const;
  std::vector<std::string> slot_names() const;
  std::vector<VariablePtr> slots() const;
  // Variables that belong to the optimizer, not to a trained variable, such as Adam's beta1_power.
  virtual std::vector<VariablePtr> non_slot_variables() const { return {}; }

 protected:
  // Creates the slots of a variable with make_slot().
  virtual void create_slots(Graph&, const VariablePtr&) {}
  // Creates non_slot_variables(); `first` is the first trained variable.
  virtual void create_non_slot_variables(Graph&, const VariablePtr& /*first*/) {}
  // Creates the inputs that all updates share, in the name scope of the step.
  virtual void prepare(Graph&) {}
  // Returns the operation that updates a variable. The indices of IndexedSlices are distinct.
  virtual Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) = 0;
  // Returns an operation that runs after `updates` and completes the step.
  virtual Operation* finish(Graph& graph, const std::vector<Operation*>& updates);

  const Args& args() const { return args_; }
  // Returns the slot `slot_name` of a variable. Creates it if necessary, as a variable that is
  // named after the optimizer unless `variable_name` is given.
  VariablePtr make_slot(Graph& graph,
                        const VariablePtr& variable,
                        const std::string& slot_name,
                        const Initializer& initializer,
                        const std::string& variable_name = "");
  // Returns a hyperparameter as a tensor. The argument may be a number, a tensor, a variable, or a
  // function that returns a number or a tensor.
  Output hyperparameter(Graph& graph, const std::string& name, double fallback);
  Output hyperparameter(Graph& graph, const std::string& name);
  // Casts the scalar `x` to the variable's type.
  static Output cast_like(Graph& graph, Output x, const Variable& variable);

  // Adds an op of type [Resource][Sparse]Apply<name>. Its inputs are the variable, its slots and
  // `inputs`, which must include gradient.values. For IndexedSlices, the indices follow the values.
  Operation* apply_op(Graph& graph,
                      const char* name,
                      const Variable& variable,
                      const Gradient& gradient,
                      const std::vector<std::string>& slots,
                      const std::vector<Output>& inputs,
                      const AttrMap& attrs = {});

 private:
  Output publish_hyperparameter(Graph& graph, const std::string& name, const double* fallback);
  Output hyperparameter_value(Graph& graph, const std::string& name, const double* fallback);

  std::string name_;
  std::string submodel_;  // the submodel that is trained, such as "dnn"; names the learning rate
  Args args_;
  std::map<std::pair<const Variable*, std::string>, VariablePtr> slots_;
};

// Creates an optimizer by its registered name ("Ftrl"). Throws on invalid hyperparameters.
std::shared_ptr<Optimizer> make_optimizer(const std::string& type, const Args& args);
// Returns the names of the optimizers, which scripts may pass as strings instead of objects.
std::vector<std::string> optimizer_names();

// Registers an optimizer class under `type`, the name that estimators accept. Further arguments are
// the member of `tf` that constructs it, and its arguments as ArgSpec declarations. `use_locking`
// is accepted for compatibility and ignored, because updates of a variable never run concurrently.
#define RUNHOOKS_REGISTER_OPTIMIZER(type, Class, ...)                                      \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(optimizer_registered_, __COUNTER__) = \
      ::runhooks::Factory<::runhooks::Optimizer>::instance().add(                          \
          type,                                                                            \
          [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::Optimizer> {     \
            return std::make_shared<Class>(args);                                          \
          },                                                                               \
          __VA_ARGS__)

}  // namespace runhooks
