#include "graph/lowering.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/complexity_counter.h"
#include "base/interrupt.h"
#include "graph/ancestors.h"
#include "graph/collection_item.h"
#include "graph/func_graph.h"

namespace runhooks {

namespace {

const Operation* operation_of(const CollectionItem& item) {
  if (const auto* output = std::get_if<Output>(&item)) return output->op;
  auto* const* op = std::get_if<Operation*>(&item);
  return op ? *op : nullptr;
}

// Returns the element for an operation in a vector that is indexed by operation id.
template <typename T>
auto& element_of(T& by_id, const Operation* op) {
  return by_id[static_cast<size_t>(op->id())];
}

// Our sessions read a variable before they update it in the same step. TensorFlow runs operations
// in any order that the graph allows, so exported graphs need control dependencies: an update runs
// after all other uses of the variable in the training step.
class ReadBeforeWriteDeps {
 public:
  using Operations = std::vector<const Operation*>;
  explicit ReadBeforeWriteDeps(const Graph& graph) {
    std::vector<const Operation*> train_ops;
    for (const CollectionItem& item : graph.collection(collection_keys::kTrainOp)) {
      const Operation* op = operation_of(item);
      if (op && &op->graph() == &graph) train_ops.push_back(op);
    }
    if (train_ops.empty()) return;
    const size_t n = graph.operations().size();
    readers_before_.resize(n);
    readers_.resize(n);
    forwarded_variable_.resize(n);
    // Visits in creation order, so that all earlier readers of a variable are known at its update.
    for (const auto& entry : ancestors_of(train_ops, Through::kInputsAndControl)) {
      visit(entry.second);
    }
  }
  // Returns the readers that must precede an update. Operations that were added after the
  // construction are not part of the training step.
  const Operations& readers_before(const Operation& op) const {
    static const Operations kNone;
    return static_cast<size_t>(op.id()) < readers_before_.size() ? element_of(readers_before_, &op)
                                                                 : kNone;
  }

 private:
  void add_write_deps(const Operation* op, const Operation* variable) {
    const Operations& readers = element_of(readers_, variable);
    pass_work_count() += readers.size();
    element_of(readers_before_, op)
        .insert(element_of(readers_before_, op).end(), readers.begin(), readers.end());
  }
  static bool is_variable(const Output& x) {
    return x.op->inputs().empty() && (x.is_ref() || x.dtype() == DType::kResource);
  }
  void visit(const Operation* op) {
    const std::vector<int>& mutates = op->def().mutates;
    if (op->def().calls_functions && op->def().is_stateful) add_function_write_deps(op);
    for (size_t i = 0; i < op->inputs().size(); ++i) {
      const Output& input = op->inputs()[i];
      if (std::find(mutates.begin(), mutates.end(), static_cast<int>(i)) != mutates.end()) {
        add_write_deps(op, input.op);
        continue;
      }
      const Operation* variable =
          is_variable(input) ? input.op : element_of(forwarded_variable_, input.op);
      if (!variable) continue;
      Operations& readers = element_of(readers_, variable);
      if (readers.empty() || readers.back() != op) readers.push_back(op);
      // In TensorFlow, an operation that forwards a value may share the variable's memory. So its
      // consumers also read the variable.
      const bool forwards_variable = is_variable(input) || op->def().forwards;
      if (i == 0 && forwards_variable) element_of(forwarded_variable_, op) = variable;
    }
  }

  // Adds the readers of variables that the functions of `op` modify. These are handle inputs of
  // `op`.
  void add_function_write_deps(const Operation* op) {
    const std::vector<std::string> names = modified_variables(*op);
    const std::set<std::string> modified(names.begin(), names.end());
    for (const Output& input : op->inputs()) {
      if (is_variable(input) && modified.count(input.op->name()) > 0) add_write_deps(op, input.op);
    }
  }

  // Indexed by operation id. Operations that were added later have no element.
  Operations forwarded_variable_;           // the variable whose value the operation forwards
  std::vector<Operations> readers_;         // by variable: its readers so far
  std::vector<Operations> readers_before_;  // by update: the readers that must precede it
};

}  // namespace

// Copies the operations of `from` into `to` in creation order and replaces those that have a
// `lower_fn`. `lowered_ops_` maps the id of an operation of `from` to its counterpart in `to`; the
// last replacement of an op is its counterpart.
class Lowering {
 public:
  Lowering(const Graph& from, Graph& to)
      : from_(from), read_before_write_(from), to_(to), initial_extensions_(from.extensions()) {}

  // Lowers the operations that were added since the last call; in the first call, all operations.
  void run() {
    const auto& all = from_.operations();
    const size_t first_new = lowered_ops_.size();
    // Operations that a replacement adds must not take the name of an operation that follows.
    for (size_t i = first_new; i < all.size(); ++i) reserve_names(*all[i]);
    for (const Operation* op : new_operations_in(collection_keys::kLocalInitOp)) {
      local_init_ops_.push_back(op);
    }
    lowered_ops_.resize(all.size());
    is_unchanged_.resize(all.size());
    for (size_t i = first_new; i < all.size(); ++i) lower_with_inputs(*all[i]);
    for (const std::string& name : from_.collection_names()) add_collection(name);
  }
  // Whether lowering only the new operations gives the same result as lowering the whole graph.
  bool can_extend() const {
    const auto& all = from_.operations();
    const auto was_lowered = [this](const Operation* op) { return is_lowered(*op); };
    const auto init_ops = new_operations_in(collection_keys::kLocalInitOp);
    const auto first_new = all.begin() + static_cast<std::ptrdiff_t>(lowered_ops_.size());
    return initial_extensions_ == from_.extensions() &&
           new_operations_in(collection_keys::kTrainOp).empty() &&
           std::none_of(init_ops.begin(), init_ops.end(), was_lowered) &&
           std::all_of(all.begin(), first_new,
                       [this](const auto& op) { return had_final_shapes(*op); }) &&
           std::all_of(first_new, all.end(),
                       [this](const auto& op) { return names_are_unused(*op); });
  }
  // Lowers the operations of a function that its results depend on.
  void run_function(const FuncGraph& from, FuncGraph& to) {
    lowered_ops_.resize(from.operations().size());
    for (const auto& argument : from.arguments()) {
      const Output& inside = argument.inside;
      const Output lowered = to.add_argument(inside.dtype(), inside.shape());
      // Operations in the function use a copy of a handle, because sessions find handles by name.
      // Only the caller uses the argument.
      if (!argument.is_handle()) lowered_ops_[static_cast<size_t>(inside.op->id())] = lowered.op;
    }
    for (const Operation* op : needed_operations(from)) lower_with_inputs(*op);
    for (const Output& result : from.results) {
      const FuncGraph::Argument* handle = handle_argument(from, result);
      to.results.push_back(handle ? to.argument(static_cast<size_t>(handle - &from.arguments()[0]))
                                  : lowered_item(result));
    }
  }

 private:
  bool is_lowered(const Operation& op) const {
    return &op.graph() == &from_ && static_cast<size_t>(op.id()) < lowered_ops_.size();
  }
  // Whether no output shape of `op` has been refined since it was lowered.
  bool had_final_shapes(const Operation& op) const {
    const Operation* lowered = lowered_ops_[static_cast<size_t>(op.id())];
    bool is_final = true;
    for (int i = 0; is_final && op.shapes_are_refined() && i < op.num_outputs(); ++i) {
      const Shape& shape = lowered->output_shape(i);
      is_final = shape.merge_with(op.output_shape(i)) == shape;
    }
    return is_final;
  }
  // Whether the names of `op` and of the operations in its functions are unused in `to_`.
  bool names_are_unused(const Operation& op) const {
    bool unused = to_.unique_name(op.name(), false) == op.name();
    for (const FunctionPtr& function : functions_of(op)) {
      const auto& inner = function->operations();
      unused = unused && std::all_of(inner.begin(), inner.end(),
                                     [this](const auto& one) { return names_are_unused(*one); });
    }
    return unused;
  }
  // Returns the operations in a collection that run() has not seen.
  std::vector<const Operation*> new_operations_in(const std::string& name) const {
    const std::vector<CollectionItem> items = from_.collection(name);
    const auto num_lowered = num_lowered_items_.find(name);
    std::vector<const Operation*> operations;
    size_t i = num_lowered == num_lowered_items_.end() ? 0 : num_lowered->second;
    for (; i < items.size(); ++i) {
      if (auto* const* op = std::get_if<Operation*>(&items[i])) operations.push_back(*op);
    }
    return operations;
  }
  void add_collection(const std::string& name) {
    const std::vector<CollectionItem> items = from_.collection(name);
    size_t& i = num_lowered_items_[name];
    for (; i < items.size(); ++i) {
      const Operation* op = operation_of(items[i]);
      // Omits operations in functions, which the lowered graph cannot refer to.
      if (!op || &op->graph() == &from_) to_.add_to_collection(name, lowered_item(items[i]));
    }
  }
  void reserve_names(const Operation& op) {
    to_.unique_name(op.name());
    for (const FunctionPtr& function : functions_of(op)) {
      for (const auto& inner : function->operations()) reserve_names(*inner);
    }
  }
  static const FuncGraph::Argument* handle_argument(const FuncGraph& from, const Output& result) {
    for (const auto& argument : from.arguments()) {
      if (argument.is_handle() && argument.inside == result) return &argument;
    }
    return nullptr;
  }
  // Lowers the inputs first: a gradient may have added inputs that are newer than the operation.
  Operation* lower_with_inputs(const Operation& op) {
    Operation*& lowered = lowered_ops_[static_cast<size_t>(op.id())];
    if (lowered) return lowered;
    check_interrupt();
    pass_work_count() += op.inputs().size();
    for (const Output& input : op.inputs()) lower_with_inputs(*input.op);
    if (can_copy_unchanged(op)) {
      is_unchanged_[static_cast<size_t>(op.id())] = true;
      lowered = to_.copy_op(op, lowered_inputs(op), lowered_control_inputs(op));
    } else {
      lowered = op.def().lower_fn ? lower_operation(op) : recreate(op);
      for (int i = 0; i < lowered->num_outputs(); ++i) {
        lowered->set_output_shape(i, op.output_shape(i));
      }
    }
    lowered->payload = op.payload;
    return lowered;
  }
  // Whether TensorFlow has the op and its inputs are unchanged, so that a copy needs no checks and
  // no inference.
  bool can_copy_unchanged(const Operation& op) const {
    if (to_.is_function() || op.def().lower_fn || op.def().calls_functions) return false;
    return std::all_of(op.inputs().begin(), op.inputs().end(), [this](const Output& input) {
      return is_unchanged_[static_cast<size_t>(input.op->id())] && !input.op->shapes_are_refined();
    });
  }
  Output lowered_item(const Output& output) const {
    return {lowered_ops_[static_cast<size_t>(output.op->id())], output.index};
  }
  CollectionItem lowered_item(const CollectionItem& item) const {
    if (const auto* output = std::get_if<Output>(&item)) return lowered_item(*output);
    if (auto* const* op = std::get_if<Operation*>(&item)) {
      return lowered_ops_[static_cast<size_t>((*op)->id())];
    }
    return item;
  }
  std::vector<Output> lowered_inputs(const Operation& op) const {
    std::vector<Output> inputs;
    inputs.reserve(op.inputs().size());
    for (const Output& input : op.inputs()) inputs.push_back(lowered_item(input));
    return inputs;
  }
  std::vector<Operation*> lowered_control_inputs(const Operation& op) const {
    std::vector<Operation*> controls;
    for (const Operation* control : op.control_inputs()) {
      controls.push_back(lowered_ops_[static_cast<size_t>(control->id())]);
    }
    for (const Operation* reader : read_before_write_.readers_before(op)) {
      Operation* lowered = lowered_ops_[static_cast<size_t>(reader->id())];
      if (lowered) controls.push_back(lowered);
    }
    // The local_init_op of tf.train.Scaffold also initializes tables.
    if (std::find(local_init_ops_.begin(), local_init_ops_.end(), &op) != local_init_ops_.end()) {
      for (const CollectionItem& item : to_.collection(collection_keys::kTableInitializers)) {
        controls.push_back(collection_item<Operation*>(item, collection_keys::kTableInitializers));
      }
    }
    return controls;
  }
  // Creates the operation in `to_`, with lowered functions.
  Operation* recreate(const Operation& op) {
    AttrMap attrs;
    std::vector<FuncGraph*> functions;
    size_t num_arguments = 0;
    for (const auto& item : op.attrs().items()) {
      const auto* function = std::get_if<FunctionPtr>(&item.second);
      if (function) {
        num_arguments = (*function)->arguments().size();
        const FunctionPtr lowered = lowered_function(**function);
        functions.push_back(lowered.get());
        attrs.set(item.first, lowered);
      } else {
        attrs.set(item.first, item.second);
      }
    }
    // Inside a function, the operation's name differs from the name of its resource.
    const AttrValue* shared_name = attrs.find("shared_name");
    if (to_.is_function() && shared_name && std::get<std::string>(*shared_name).empty()) {
      attrs.set("shared_name", op.name());
    }
    std::vector<Output> inputs = lowered_inputs(op);
    add_captures(op, functions, num_arguments, &inputs, &attrs);
    return to_.create_op(op.type(), inputs, attrs, op.name() + "/", lowered_control_inputs(op));
  }
  // Lowering may add captured tensors to the functions of an operation, which had `num_arguments`
  // arguments. Adds these tensors to the inputs of the operation.
  void add_captures(const Operation& op,
                    const std::vector<FuncGraph*>& functions,
                    size_t num_arguments,
                    std::vector<Output>* inputs,
                    AttrMap* attrs) const {
    const auto has_captured = [=](const FuncGraph* f) {
      return f->arguments().size() > num_arguments;
    };
    if (std::none_of(functions.begin(), functions.end(), has_captured)) return;
    if (!attrs->find("then_branch")) {
      fail(Code::kInternal, "The functions of '", op.name(), "' (", op.type(),
           ") cannot capture more values during lowering.");
    }
    FuncGraph::unify_captures(functions, num_arguments);
    std::vector<DType> types = std::get<std::vector<DType>>(*attrs->find("Tin"));
    for (size_t i = num_arguments; i < functions[0]->arguments().size(); ++i) {
      inputs->push_back(functions[0]->arguments()[i].outside);
      types.push_back(inputs->back().dtype());
    }
    attrs->set("Tin", types);
  }
  FunctionPtr lowered_function(const FuncGraph& from) {
    auto to = std::make_shared<FuncGraph>(to_, from.scope(), "");
    to->rename(from.function_name());
    Lowering(from, *to).run_function(from, *to);
    return to;
  }
  // Adds the operations that replace `op`, which TensorFlow lacks.
  Operation* lower_operation(const Operation& op) {
    {
      const ControlDependencies after(to_, lowered_control_inputs(op));
      const NameScope scope(to_, op.name() + "/");
      op.def().lower_fn(to_, op, lowered_inputs(op));
    }
    Operation* replacement = to_.find_operation(op.name());
    bool has_same_outputs = replacement && replacement->num_outputs() == op.num_outputs();
    for (int i = 0; has_same_outputs && i < op.num_outputs(); ++i) {
      has_same_outputs = replacement->output_dtype(i) == op.output_dtype(i);
    }
    if (!has_same_outputs) {
      fail(Code::kInternal, "Lowering of op '", op.name(), "' (", op.type(),
           ") changed its outputs.");
    }
    return replacement;
  }

  const Graph& from_;
  const ReadBeforeWriteDeps read_before_write_;
  Graph& to_;
  const int initial_extensions_;                     // Graph::extensions() of `from_` at creation
  std::map<std::string, size_t> num_lowered_items_;  // by collection
  // Indexed by the id of the original operation.
  std::vector<Operation*> lowered_ops_;
  std::vector<bool> is_unchanged_;  // whether types, shapes and values of the outputs are unchanged
  std::vector<const Operation*> local_init_ops_;
};

std::shared_ptr<Graph> lowered_graph(const Graph& graph) {
  auto to = std::make_shared<Graph>();
  Lowering(graph, *to).run();
  return to;
}

IncrementalLowering::IncrementalLowering(const Graph& graph)
    : to_(std::make_shared<Graph>()), lowering_(std::make_unique<Lowering>(graph, *to_)) {
  lowering_->run();
}

IncrementalLowering::~IncrementalLowering() = default;

bool IncrementalLowering::extend() {
  if (!lowering_->can_extend()) return false;
  lowering_->run();
  return true;
}

}  // namespace runhooks
