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

// One value per operation of a graph.
template <typename T>
auto& of(T& all, const Operation* op) {
  return all[static_cast<size_t>(op->id())];
}

// Our sessions read a variable before they update it in the same step. TensorFlow runs operations
// in any order that the graph allows, so exported graphs need control dependencies: an update runs
// after all other uses of the variable in the training step.
class ReadersFirst {
 public:
  using Operations = std::vector<const Operation*>;
  explicit ReadersFirst(const Graph& graph) {
    std::vector<const Operation*> last;
    for (const CollectionItem& item : graph.collection(collection_keys::kTrainOp)) {
      const Operation* op = operation_of(item);
      if (op && &op->graph() == &graph) last.push_back(op);
    }
    if (last.empty()) return;
    const size_t n = graph.operations().size();
    before_.resize(n);
    readers_.resize(n);
    value_of_.resize(n);
    // operations are in creation order, so all earlier readers are known here
    for (const auto& entry : ancestors_of(last, Through::kInputsAndControl)) {
      visit(entry.second);
    }
  }
  // Operations that were added later are not part of that step.
  const Operations& readers_before(const Operation& op) const {
    static const Operations kNone;
    return static_cast<size_t>(op.id()) < before_.size() ? of(before_, &op) : kNone;
  }

 private:
  void add_write_deps(const Operation* op, const Operation* variable) {
    const Operations& readers = of(readers_, variable);
    pass_work_count() += readers.size();
    of(before_, op).insert(of(before_, op).end(), readers.begin(), readers.end());
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
      const Operation* variable = is_variable(input) ? input.op : of(value_of_, input.op);
      if (!variable) continue;
      Operations& readers = of(readers_, variable);
      if (readers.empty() || readers.back() != op) readers.push_back(op);
      // operations that forward a value share its memory, also in TensorFlow
      const bool hands_on = is_variable(input) || op->def().forwards;
      if (i == 0 && hands_on) of(value_of_, op) = variable;
    }
  }

  // The caller has the handles of variables that a function modifies.
  void add_function_write_deps(const Operation* op) {
    const std::vector<std::string> names = changed_variables(*op);
    const std::set<std::string> changed(names.begin(), names.end());
    for (const Output& input : op->inputs()) {
      if (is_variable(input) && changed.count(input.op->name()) > 0) add_write_deps(op, input.op);
    }
  }

  // By operation number; may be shorter than the graph.
  Operations value_of_;  // the variable whose value the operation forwards
  std::vector<Operations> readers_, before_;
};

}  // namespace

// Copies the operations of `from` into `to` in creation order and replaces those that have a
// `lower_fn`. `made_` maps the id of an operation of `from` to its counterpart in `to`; the last
// replacement of an op is its counterpart.
class Lowering {
 public:
  Lowering(const Graph& from, Graph& to)
      : from_(from), readers_first_(from), to_(to), extensions_(from.extensions()) {}

  // Lowers all operations, or those that were added since the last call.
  void run() {
    const auto& all = from_.operations();
    const size_t known = made_.size();
    // Reserves the names of all operations, so that added ones do not take them.
    for (size_t i = known; i < all.size(); ++i) reserve_names(*all[i]);
    for (const Operation* op : new_operations_in(collection_keys::kLocalInitOp)) {
      local_init_ops_.push_back(op);
    }
    made_.resize(all.size());
    is_same_.resize(all.size());
    for (size_t i = known; i < all.size(); ++i) make(*all[i]);
    for (const std::string& name : from_.collection_names()) add_collection(name);
  }
  // Whether lowering only the new operations gives the same result as lowering the whole graph.
  bool can_go_on() const {
    const auto& all = from_.operations();
    const auto is_known = [this](const Operation* op) { return is_lowered(*op); };
    const auto init_ops = new_operations_in(collection_keys::kLocalInitOp);
    const auto first_new = all.begin() + static_cast<std::ptrdiff_t>(made_.size());
    return extensions_ == from_.extensions() &&
           new_operations_in(collection_keys::kTrainOp).empty() &&
           std::none_of(init_ops.begin(), init_ops.end(), is_known) &&
           std::all_of(all.begin(), first_new,
                       [this](const auto& op) { return has_shapes(*op); }) &&
           std::all_of(first_new, all.end(), [this](const auto& op) { return has_names(*op); });
  }
  // Lowers the operations of a function that its results depend on.
  void run_function(const FuncGraph& from, FuncGraph& to) {
    made_.resize(from.operations().size());
    for (const auto& argument : from.arguments()) {
      const Output& inside = argument.inside;
      const Output made = to.add_argument(inside.dtype(), inside.shape());
      // sessions find handles by name; their arguments are for the caller only
      if (!argument.is_handle()) made_[static_cast<size_t>(inside.op->id())] = made.op;
    }
    for (const Operation* op : needed_operations(from)) make(*op);
    for (const Output& result : from.results) {
      const FuncGraph::Argument* handle = handle_among(from, result);
      to.results.push_back(handle ? to.argument(static_cast<size_t>(handle - &from.arguments()[0]))
                                  : mapped(result));
    }
  }

 private:
  bool is_lowered(const Operation& op) const {
    return &op.graph() == &from_ && static_cast<size_t>(op.id()) < made_.size();
  }
  // Whether the shapes of its outputs were already known when it was lowered.
  bool has_shapes(const Operation& op) const {
    const Operation* made = made_[static_cast<size_t>(op.id())];
    bool has = true;
    for (int i = 0; has && op.shapes_are_refined() && i < op.num_outputs(); ++i) {
      const Shape& shape = made->output_shape(i);
      has = shape.merge_with(op.output_shape(i)) == shape;
    }
    return has;
  }
  // Whether its names are unused.
  bool has_names(const Operation& op) const {
    bool has = to_.unique_name(op.name(), false) == op.name();
    for (const FunctionPtr& function : functions_of(op)) {
      const auto& inner = function->operations();
      has = has && std::all_of(inner.begin(), inner.end(),
                               [this](const auto& one) { return has_names(*one); });
    }
    return has;
  }
  std::vector<const Operation*> new_operations_in(const std::string& name) const {
    const std::vector<CollectionItem> items = from_.collection(name);
    const auto known = exported_items_.find(name);
    std::vector<const Operation*> operations;
    for (size_t i = known == exported_items_.end() ? 0 : known->second; i < items.size(); ++i) {
      if (auto* const* op = std::get_if<Operation*>(&items[i])) operations.push_back(*op);
    }
    return operations;
  }
  void add_collection(const std::string& name) {
    const std::vector<CollectionItem> items = from_.collection(name);
    size_t& known = exported_items_[name];
    for (; known < items.size(); ++known) {
      const Operation* op = operation_of(items[known]);
      // others cannot refer to operations inside of functions
      if (!op || &op->graph() == &from_) to_.add_to_collection(name, mapped(items[known]));
    }
  }
  void reserve_names(const Operation& op) {
    to_.unique_name(op.name());
    for (const FunctionPtr& function : functions_of(op)) {
      for (const auto& inner : function->operations()) reserve_names(*inner);
    }
  }
  static const FuncGraph::Argument* handle_among(const FuncGraph& from, const Output& result) {
    for (const auto& argument : from.arguments()) {
      if (argument.is_handle() && argument.inside == result) return &argument;
    }
    return nullptr;
  }
  // Inputs first, because gradients may have added inputs after the operation was created.
  Operation* make(const Operation& op) {
    Operation*& made = made_[static_cast<size_t>(op.id())];
    if (made) return made;
    check_interrupt();
    pass_work_count() += op.inputs().size();
    for (const Output& input : op.inputs()) make(*input.op);
    if (stays_same(op)) {
      is_same_[static_cast<size_t>(op.id())] = true;
      made = to_.copy_op(op, inputs_of(op), controls_of(op));
      made->payload = op.payload;
      return made;
    }
    made = op.def().lower_fn ? lower(op) : copy(op);
    for (int i = 0; i < made->num_outputs(); ++i) made->set_output_shape(i, op.output_shape(i));
    made->payload = op.payload;
    return made;
  }
  // Whether TensorFlow knows the op and its inputs are unchanged, so that checks and inference can
  // be skipped.
  bool stays_same(const Operation& op) const {
    if (to_.is_function() || op.def().lower_fn || op.def().calls_functions) return false;
    return std::all_of(op.inputs().begin(), op.inputs().end(), [this](const Output& input) {
      return is_same_[static_cast<size_t>(input.op->id())] && !input.op->shapes_are_refined();
    });
  }
  Output mapped(const Output& output) const {
    return {made_[static_cast<size_t>(output.op->id())], output.index};
  }
  CollectionItem mapped(const CollectionItem& item) const {
    if (const auto* output = std::get_if<Output>(&item)) return mapped(*output);
    if (auto* const* op = std::get_if<Operation*>(&item)) {
      return made_[static_cast<size_t>((*op)->id())];
    }
    return item;
  }
  std::vector<Output> inputs_of(const Operation& op) const {
    std::vector<Output> inputs;
    inputs.reserve(op.inputs().size());
    for (const Output& input : op.inputs()) inputs.push_back(mapped(input));
    return inputs;
  }
  std::vector<Operation*> controls_of(const Operation& op) const {
    std::vector<Operation*> controls;
    for (const Operation* control : op.control_inputs()) {
      controls.push_back(made_[static_cast<size_t>(control->id())]);
    }
    for (const Operation* reader : readers_first_.readers_before(op)) {
      if (Operation* made = made_[static_cast<size_t>(reader->id())]) controls.push_back(made);
    }
    // as in tf.train.Scaffold, whose local_init_op also initializes tables
    if (std::find(local_init_ops_.begin(), local_init_ops_.end(), &op) != local_init_ops_.end()) {
      for (const CollectionItem& item : to_.collection(collection_keys::kTableInitializers)) {
        controls.push_back(collection_item<Operation*>(item, collection_keys::kTableInitializers));
      }
    }
    return controls;
  }
  Operation* copy(const Operation& op) {
    AttrMap attrs;
    std::vector<FuncGraph*> functions;
    size_t arguments = 0;
    for (const auto& item : op.attrs().items()) {
      const auto* function = std::get_if<FunctionPtr>(&item.second);
      if (function) {
        arguments = (*function)->arguments().size();
        const FunctionPtr own = lowered(**function);
        functions.push_back(own.get());
        attrs.set(item.first, own);
      } else {
        attrs.set(item.first, item.second);
      }
    }
    // inside a function, the operation's name differs from the resource's name
    const AttrValue* shared_name = attrs.find("shared_name");
    if (to_.is_function() && shared_name && std::get<std::string>(*shared_name).empty()) {
      attrs.set("shared_name", op.name());
    }
    std::vector<Output> inputs = inputs_of(op);
    add_captures(op, functions, arguments, &inputs, &attrs);
    return to_.create_op(op.type(), inputs, attrs, op.name() + "/", controls_of(op));
  }
  // Adds the inputs that lowering added to the functions of an operation.
  void add_captures(const Operation& op,
                    const std::vector<FuncGraph*>& functions,
                    size_t arguments,
                    std::vector<Output>* inputs,
                    AttrMap* attrs) const {
    const auto has_more = [=](const FuncGraph* f) { return f->arguments().size() > arguments; };
    if (std::none_of(functions.begin(), functions.end(), has_more)) return;
    if (!attrs->find("then_branch")) {
      fail(Code::kInternal, "The functions of '", op.name(), "' (", op.type(),
           ") cannot capture more values during lowering.");
    }
    FuncGraph::unify_captures(functions, arguments);
    std::vector<DType> types = std::get<std::vector<DType>>(*attrs->find("Tin"));
    for (size_t i = arguments; i < functions[0]->arguments().size(); ++i) {
      inputs->push_back(functions[0]->arguments()[i].outside);
      types.push_back(inputs->back().dtype());
    }
    attrs->set("Tin", types);
  }
  FunctionPtr lowered(const FuncGraph& from) {
    auto to = std::make_shared<FuncGraph>(to_, from.scope(), "");
    to->rename(from.function_name());
    Lowering(from, *to).run_function(from, *to);
    return to;
  }
  Operation* lower(const Operation& op) {
    {
      const ControlDependencies after(to_, controls_of(op));
      const NameScope scope(to_, op.name() + "/");
      op.def().lower_fn(to_, op, inputs_of(op));
    }
    Operation* made = to_.find_operation(op.name());
    bool fits = made && made->num_outputs() == op.num_outputs();
    for (int i = 0; fits && i < op.num_outputs(); ++i) {
      fits = made->output_dtype(i) == op.output_dtype(i);
    }
    if (!fits) {
      fail(Code::kInternal, "Lowering of op '", op.name(), "' (", op.type(),
           ") changed its outputs.");
    }
    return made;
  }

  const Graph& from_;
  const ReadersFirst readers_first_;
  Graph& to_;
  const int extensions_;                          // number of extensions of the graph
  std::map<std::string, size_t> exported_items_;  // sizes of its collections
  // By the id of the original operation.
  std::vector<Operation*> made_;
  std::vector<bool> is_same_;  // whether types, shapes and values of the outputs are unchanged
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

bool IncrementalLowering::grow() {
  if (!lowering_->can_go_on()) return false;
  lowering_->run();
  return true;
}

}  // namespace runhooks
