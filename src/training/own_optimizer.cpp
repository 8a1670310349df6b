// CustomOptimizer: an optimizer that an R script defines by functions, like a Python subclass of
// tf.train.Optimizer. The functions build the update of a variable from its gradient, its slots and
// the hyperparameters.
#include <set>
#include <vector>

#include "graph/ancestors.h"
#include "graph/indexed_slices.h"
#include "nn/initializer.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

// Hyperparameters are passed as one argument, because their names may equal those of the functions.
Args hyperparameters_of(const Args& args) {
  const Value* argument = args.find("hyper");
  const auto* named_values = argument ? argument->get_if<std::shared_ptr<Args>>() : nullptr;
  Args hyperparameters = named_values ? **named_values : Args();
  hyperparameters.set_owner(args.owner());
  return hyperparameters;
}

void append_operations(const Value& value,
                       const std::string& function_name,
                       std::vector<Operation*>* operations) {
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    for (const Value& item : **list) append_operations(item, function_name, operations);
  } else if (auto* const* op = value.get_if<Operation*>()) {
    operations->push_back(*op);
  } else if (const auto* tensor = value.get_if<Output>()) {
    operations->push_back(tensor->op);
  } else {
    invalid_argument("`", function_name, "` must return operations or tensors, not ", value.kind(),
                     ".");
  }
}

// True if the op may change a variable. Also true for each op that calls functions, because the
// functions are not inspected.
bool may_change(const OpDef& def) {
  return !def.mutates.empty() || def.calls_functions || def.is_host_function;
}

class CustomOptimizer : public Optimizer {
 public:
  explicit CustomOptimizer(const Args& args)
      : Optimizer(args.text("name"), hyperparameters_of(args)),
        apply_dense_(args.callable("apply_dense")),
        apply_sparse_(args.callable("apply_sparse")),
        slots_function_(args.callable("slots")),
        prepare_function_(args.callable("prepare")),
        finish_function_(args.callable("finish")) {}

  std::vector<VariablePtr> non_slot_variables() const override { return non_slot_variables_; }

 protected:
  void create_slots(Graph& graph, const VariablePtr& variable) override {
    variables_[variable.get()] = variable;
    slot_names_[variable.get()].clear();
    if (!slots_function_) return;
    const Value initial_values = slots_function_->call({Value::of(variable)});
    const auto* named_values = initial_values.get_if<std::shared_ptr<Args>>();
    if (!named_values) return;
    for (const auto& item : (*named_values)->items()) {
      double number = 1;
      const bool is_zero = value_number(item.second, &number) && number == 0;
      const VariablePtr slot_variable =
          make_slot(graph, variable, item.first,
                    is_zero ? zeros_initializer() : initializer_of(item.second, item.first));
      const Shape& initial_shape = slot_variable->initial_value.shape();
      if (!initial_shape.is_compatible_with(variable->shape)) {
        invalid_argument("The initial value of slot `", item.first, "` has shape ", initial_shape,
                         ", but the variable '", variable->name(), "' has shape ", variable->shape,
                         ".");
      }
      slot_names_[variable.get()].push_back(item.first);
    }
  }

  void prepare(Graph& graph) override {
    first_operation_ = graph.operations().size();
    hyperparameters_.clear();
    for (const auto& item : args().items()) {
      hyperparameters_.emplace_back(item.first, Value::of(hyperparameter(graph, item.first)));
    }
    prepared_values_.clear();
    if (!prepare_function_) return;
    const auto variables_before = variables_in(graph, collection_keys::kGlobalVariables);
    const std::set<VariablePtr> known_variables(variables_before.begin(), variables_before.end());
    const Value prepared = prepare_function_->call({dictionary(hyperparameters_)});
    if (const auto* named_values = prepared.get_if<std::shared_ptr<Args>>())
      prepared_values_ = (*named_values)->items();
    for (const VariablePtr& variable : variables_in(graph, collection_keys::kGlobalVariables)) {
      if (!known_variables.count(variable)) non_slot_variables_.push_back(variable);
    }
  }

  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    const bool is_sparse = gradient.is_indexed_slices() && apply_sparse_;
    const Gradient passed_gradient =
        is_sparse ? gradient : Gradient(dense_gradient(graph, gradient));
    NamedValues slots;
    for (const std::string& name : slot_names_[&variable]) {
      slots.emplace_back(name, Value::of(slot(variable, name)));
    }
    NamedValues hyperparameters;
    for (const auto& item : hyperparameters_) {
      const Output x = *item.second.get_if<Output>();
      hyperparameters.emplace_back(item.first, Value::of(cast_like(graph, x, variable)));
    }
    hyperparameters.insert(hyperparameters.end(), prepared_values_.begin(), prepared_values_.end());
    const Value result =
        (is_sparse ? apply_sparse_ : apply_dense_)
            ->call({gradient_value(passed_gradient), Value::of(variables_.at(&variable)),
                    dictionary(slots), dictionary(hyperparameters)});
    std::vector<Operation*> ops;
    append_operations(result, is_sparse ? "apply_sparse" : "apply_dense", &ops);
    return ops.size() == 1 ? ops[0] : graph.group(ops);
  }

  // Operations that the `finish` function creates run after all updates.
  Operation* finish(Graph& graph, const std::vector<Operation*>& updates) override {
    std::vector<Operation*> final_operations = updates;
    if (finish_function_) {
      auto list = std::make_shared<ValueList>();
      for (Operation* update : updates) list->push_back(Value::of(update));
      NamedValues hyperparameters = hyperparameters_;
      hyperparameters.insert(hyperparameters.end(), prepared_values_.begin(),
                             prepared_values_.end());
      const ControlDependencies after(graph, updates);
      append_operations(finish_function_->call({Value::of(list), dictionary(hyperparameters)}),
                        "finish", &final_operations);
    }
    check_all_run(graph, {final_operations.begin(), final_operations.end()});
    return Optimizer::finish(graph, final_operations);
  }

 private:
  using NamedValues = std::vector<std::pair<std::string, Value>>;

  Value dictionary(const NamedValues& items) const {
    auto result = std::make_shared<Args>(args().owner());
    for (const auto& item : items) result->set(item.first, item.second);
    return Value::of(result);
  }

  // Throws if a new operation changes a variable but would never run, because the training op does
  // not depend on it. Also throws if the step changes no variable.
  void check_all_run(const Graph& graph,
                     const std::vector<const Operation*>& final_operations) const {
    const OperationsById needed = ancestors_of(final_operations, Through::kInputsAndControl);
    std::set<const Operation*> initializers;
    for (const VariablePtr& variable : variables_in(graph, collection_keys::kGlobalVariables)) {
      initializers.insert(variable->initializer);
    }
    const auto& operations = graph.operations();
    bool changes_variable = false;
    for (size_t i = first_operation_; i < operations.size(); ++i) {
      const Operation* op = operations[i].get();
      const OpDef& def = op->def();
      changes_variable = changes_variable || (needed.count(op->id()) && may_change(def));
      if (def.mutates.empty() || needed.count(op->id()) || initializers.count(op)) continue;
      throw Error(Code::kInvalidArgument,
                  str_cat(args().owner(), " adds an operation that would never run: '", op->name(),
                          "' changes a variable, but no returned operation depends on it."),
                  {"Return all updates of the step, as in `tf$group(a, b)`, or compute one from "
                   "the result of the other."});
    }
    if (changes_variable) return;
    throw Error(Code::kInvalidArgument,
                str_cat(args().owner(), " changes no variable, so a step has no effect."),
                {"Update a variable, for example with `tf$assign_sub(var, ...)`."});
  }

  std::shared_ptr<Callable> apply_dense_, apply_sparse_, slots_function_, prepare_function_,
      finish_function_;
  std::map<const Variable*, VariablePtr> variables_;
  std::map<const Variable*, std::vector<std::string>> slot_names_;
  std::vector<VariablePtr> non_slot_variables_;
  NamedValues hyperparameters_,
      prepared_values_;         // the values of `hyperparameters_` are scalar tensors
  size_t first_operation_ = 0;  // index in the graph of the first operation that the step adds
};

}  // namespace

// The constructor and the documentation of the arguments are in R.
RUNHOOKS_REGISTER_OPTIMIZER("Optimizer",
                            CustomOptimizer,
                            "",
                            {"name: string; kept", "apply_dense: function",
                             "apply_sparse = NULL: function", "slots = NULL: function",
                             "prepare = NULL: function", "finish = NULL: function",
                             "hyper = NULL: any"});

}  // namespace runhooks
