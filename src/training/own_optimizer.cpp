// Optimizers defined by functions of a script, like Python subclasses of tf.train.Optimizer. The
// functions build the update from the gradient, variable, slots and hyperparameters.
#include <set>
#include <vector>

#include "graph/ancestors.h"
#include "graph/indexed_slices.h"
#include "nn/initializer.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

// Hyperparameters are passed separately, because their names may equal those of the functions.
Args hyperparameters_of(const Args& args) {
  const Value* given = args.find("hyper");
  const auto* named = given ? given->get_if<std::shared_ptr<Args>>() : nullptr;
  Args own = named ? **named : Args();
  own.set_owner(args.owner());
  return own;
}

void append_operations(const Value& value, const std::string& who, std::vector<Operation*>* all) {
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    for (const Value& item : **list) append_operations(item, who, all);
  } else if (auto* const* op = value.get_if<Operation*>()) {
    all->push_back(*op);
  } else if (const auto* tensor = value.get_if<Output>()) {
    all->push_back(tensor->op);
  } else {
    invalid_argument("`", who, "` must return operations or tensors, not ", value.kind(), ".");
  }
}

// Functions may change variables, so they are not inspected.
bool may_change(const OpDef& def) {
  return !def.mutates.empty() || def.calls_functions || def.is_host_function;
}

class OwnOptimizer : public Optimizer {
 public:
  explicit OwnOptimizer(const Args& args)
      : Optimizer(args.text("name"), hyperparameters_of(args)),
        apply_dense_(args.callable("apply_dense")),
        apply_sparse_(args.callable("apply_sparse")),
        slots_(args.callable("slots")),
        prepare_(args.callable("prepare")),
        finish_(args.callable("finish")) {}

  std::vector<VariablePtr> own_variables() const override { return own_variables_; }

 protected:
  void create_slots(Graph& graph, const VariablePtr& variable) override {
    variables_[variable.get()] = variable;
    slots_of_[variable.get()].clear();
    if (!slots_) return;
    const Value made = slots_->call({Value::of(variable)});
    const auto* named = made.get_if<std::shared_ptr<Args>>();
    if (!named) return;
    for (const auto& item : (*named)->items()) {
      double number = 1;
      const bool is_zero = value_number(item.second, &number) && number == 0;
      const VariablePtr kept =
          make_slot(graph, variable, item.first,
                    is_zero ? zeros_initializer() : initializer_of(item.second, item.first));
      const Shape& initial = kept->initial_value.shape();
      if (!initial.is_compatible_with(variable->shape)) {
        invalid_argument("The initial value of slot `", item.first, "` has shape ", initial,
                         ", but the variable '", variable->name(), "' has shape ", variable->shape,
                         ".");
      }
      slots_of_[variable.get()].push_back(item.first);
    }
  }

  void prepare(Graph& graph) override {
    first_ = graph.operations().size();
    hyper_.clear();
    for (const auto& item : args().items()) {
      hyper_.emplace_back(item.first, Value::of(hyperparameter(graph, item.first)));
    }
    prepared_.clear();
    if (!prepare_) return;
    const auto there = variables_in(graph, collection_keys::kGlobalVariables);
    const std::set<VariablePtr> known(there.begin(), there.end());
    const Value more = prepare_->call({dictionary(hyper_)});
    if (const auto* named = more.get_if<std::shared_ptr<Args>>()) prepared_ = (*named)->items();
    for (const VariablePtr& variable : variables_in(graph, collection_keys::kGlobalVariables)) {
      if (!known.count(variable)) own_variables_.push_back(variable);
    }
  }

  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    const bool is_sparse = gradient.is_indexed_slices() && apply_sparse_;
    const Gradient given = is_sparse ? gradient : Gradient(dense_gradient(graph, gradient));
    Named slots;
    for (const std::string& name : slots_of_[&variable]) {
      slots.emplace_back(name, Value::of(slot(variable, name)));
    }
    Named hyper;
    for (const auto& item : hyper_) {
      const Output x = *item.second.get_if<Output>();
      hyper.emplace_back(item.first, Value::of(like(graph, x, variable)));
    }
    hyper.insert(hyper.end(), prepared_.begin(), prepared_.end());
    const Value result = (is_sparse ? apply_sparse_ : apply_dense_)
                             ->call({gradient_value(given), Value::of(variables_.at(&variable)),
                                     dictionary(slots), dictionary(hyper)});
    std::vector<Operation*> ops;
    append_operations(result, is_sparse ? "apply_sparse" : "apply_dense", &ops);
    return ops.size() == 1 ? ops[0] : graph.group(ops);
  }

  // Operations that the `finish` function creates run after all updates.
  Operation* finish(Graph& graph, const std::vector<Operation*>& updates) override {
    std::vector<Operation*> ends = updates;
    if (finish_) {
      auto list = std::make_shared<ValueList>();
      for (Operation* update : updates) list->push_back(Value::of(update));
      Named hyper = hyper_;
      hyper.insert(hyper.end(), prepared_.begin(), prepared_.end());
      const ControlDependencies after(graph, updates);
      append_operations(finish_->call({Value::of(list), dictionary(hyper)}), "finish", &ends);
    }
    check_all_run(graph, {ends.begin(), ends.end()});
    return Optimizer::finish(graph, ends);
  }

 private:
  using Named = std::vector<std::pair<std::string, Value>>;

  Value dictionary(const Named& items) const {
    auto all = std::make_shared<Args>(args().owner());
    for (const auto& item : items) all->set(item.first, item.second);
    return Value::of(all);
  }

  // Throws if an assignment would never run, because the training op does not depend on it.
  void check_all_run(const Graph& graph, const std::vector<const Operation*>& ends) const {
    const NumberedOperations needed = ancestors_of(ends, Through::kInputsAndControl);
    std::set<const Operation*> initial;
    for (const VariablePtr& variable : variables_in(graph, collection_keys::kGlobalVariables)) {
      initial.insert(variable->initializer);
    }
    const auto& all = graph.operations();
    bool changes = false;
    for (size_t i = first_; i < all.size(); ++i) {
      const Operation* op = all[i].get();
      const OpDef& def = op->def();
      changes = changes || (needed.count(op->id()) && may_change(def));
      if (def.mutates.empty() || needed.count(op->id()) || initial.count(op)) continue;
      throw Error(Code::kInvalidArgument,
                  str_cat(args().owner(), " adds an operation that would never run: '", op->name(),
                          "' changes a variable, but no returned operation depends on it."),
                  {"Return all updates of the step, as in `tf$group(a, b)`, or compute one from "
                   "the result of the other."});
    }
    if (changes) return;
    throw Error(Code::kInvalidArgument,
                str_cat(args().owner(), " changes no variable, so a step has no effect."),
                {"Update a variable, for example with `tf$assign_sub(var, ...)`."});
  }

  std::shared_ptr<Callable> apply_dense_, apply_sparse_, slots_, prepare_, finish_;
  std::map<const Variable*, VariablePtr> variables_;
  std::map<const Variable*, std::vector<std::string>> slots_of_;
  std::vector<VariablePtr> own_variables_;
  Named hyper_, prepared_;  // all values of `hyper_` are scalar tensors
  size_t first_ = 0;        // index of the first operation of the step
};

}  // namespace

// The constructor and the documentation of the arguments are in R.
RUNHOOKS_REGISTER_OPTIMIZER("Optimizer",
                            OwnOptimizer,
                            "",
                            {"name: string; kept", "apply_dense: function",
                             "apply_sparse = NULL: function", "slots = NULL: function",
                             "prepare = NULL: function", "finish = NULL: function",
                             "hyper = NULL: any"});

}  // namespace runhooks
