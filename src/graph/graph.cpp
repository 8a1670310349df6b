#include "graph/graph.h"

#include <algorithm>
#include <unordered_set>

#include "base/ascii.h"
#include "base/complexity_counter.h"
#include "base/suggestions.h"
#include "graph/endpoints.h"
#include "graph/op_check.h"
#include "graph/variable.h"

namespace runhooks {

namespace {

// A limit far above the outputs of any real op. Sessions store output indices in 20 bits.
constexpr int64_t kMaxOutputs = 100000;

// Applies TensorFlow's rule for names: [A-Za-z0-9.][A-Za-z0-9_.\-/]*, and inside a scope also a
// leading "_", "-" or "/".
void check_op_name(const std::string& name) {
  bool is_valid = !name.empty() && (is_ascii_alnum(name[0]) || name[0] == '.');
  for (char c : name) {
    is_valid = is_valid && (is_ascii_alnum(c) || c == '_' || c == '.' || c == '-' || c == '/' ||
                            c == '\\' || c == '>');
  }
  if (!is_valid) invalid_argument("'", name, "' is not a valid scope name or op name.");
}

// Returns the value of an attribute; NULL if it is not set. Throws if it has another type.
template <typename T>
const T* attr_or_null(const OpDef& def, const AttrMap& attrs, const std::string& name) {
  const AttrValue* value = attrs.find(name);
  if (!value) return nullptr;
  const T* typed = std::get_if<T>(value);
  if (!typed) {
    invalid_argument("Attribute '", name, "' of '", def.type, "' Op must be of type ",
                     attr_type_name(AttrValue(T())), "; got ", attr_type_name(*value), ".");
  }
  return typed;
}

// Distributes the inputs of a call over the op's arguments. Returns the number of inputs of each
// argument.
std::vector<size_t> match_inputs(const OpDef& def, size_t num_inputs, const AttrMap& attrs) {
  const auto is_list = [](const ArgDef& arg) {
    return !arg.number_attr.empty() || !arg.type_list_attr.empty();
  };
  const auto lists =
      static_cast<size_t>(std::count_if(def.inputs.begin(), def.inputs.end(), is_list));
  const size_t single = def.inputs.size() - lists;
  const size_t per_list = lists > 0 && num_inputs >= single ? (num_inputs - single) / lists : 0;
  std::vector<size_t> counts;
  size_t total = 0;
  for (const ArgDef& arg : def.inputs) {
    size_t count = is_list(arg) ? per_list : 1;
    if (!arg.number_attr.empty()) {
      const auto* n = attr_or_null<int64_t>(def, attrs, arg.number_attr);
      // An impossible number becomes num_inputs + 1, which is reported as a mismatch below.
      const bool is_possible = n && *n >= 0 && *n <= static_cast<int64_t>(num_inputs);
      if (n) count = is_possible ? static_cast<size_t>(*n) : num_inputs + 1;
    } else if (!arg.type_list_attr.empty()) {
      const auto* types = attr_or_null<std::vector<DType>>(def, attrs, arg.type_list_attr);
      if (types) count = types->size();
    }
    counts.push_back(count);
    total += count;
  }
  if (total != num_inputs) {
    invalid_argument("Op '", def.type, "' takes ", total, " inputs; got ", num_inputs, ".");
  }
  return counts;
}

// Sets the type attribute of an argument to the type of its input, or checks that they agree.
void infer_type(const OpDef& def, const ArgDef& arg, DType dtype, AttrMap& attrs) {
  if (arg.type_attr.empty()) {
    if (arg.dtype != dtype) {
      invalid_argument("Input '", arg.name, "' of '", def.type, "' Op has type ", dtype_name(dtype),
                       " that does not match expected type of ", dtype_name(arg.dtype), ".");
    }
    return;
  }
  const auto* declared = attr_or_null<DType>(def, attrs, arg.type_attr);
  if (declared && *declared != dtype) {
    invalid_argument("Input '", arg.name, "' of '", def.type, "' Op has type ", dtype_name(dtype),
                     " that does not match type ", dtype_name(*declared), " of attribute '",
                     arg.type_attr, "'.");
  }
  if (!declared) attrs.set(arg.type_attr, dtype);
}

// Sets the attributes that follow from the inputs. Returns the argument that each input belongs to.
std::vector<const ArgDef*> infer_attrs(const OpDef& def,
                                       const std::vector<Output>& inputs,
                                       AttrMap& attrs) {
  const std::vector<size_t> counts = match_inputs(def, inputs.size(), attrs);
  std::vector<const ArgDef*> args;
  args.reserve(inputs.size());
  for (size_t a = 0; a < def.inputs.size(); ++a) {
    const ArgDef& arg = def.inputs[a];
    const bool is_type_list = !arg.type_list_attr.empty();
    std::vector<DType> types;
    for (size_t k = 0; k < counts[a]; ++k) {
      const Output& input = inputs[args.size()];
      args.push_back(&arg);
      if (arg.is_ref && !input.is_ref()) {
        invalid_argument("Input '", arg.name, "' of '", def.type, "' Op must be a variable; got '",
                         input.name(), "'.");
      }
      if (is_type_list) {
        types.push_back(input.dtype());
      } else {
        infer_type(def, arg, input.dtype(), attrs);
      }
    }
    if (!arg.number_attr.empty()) attrs.set(arg.number_attr, static_cast<int64_t>(counts[a]));
    if (is_type_list) {
      const auto* declared = attr_or_null<std::vector<DType>>(def, attrs, arg.type_list_attr);
      if (declared && *declared != types) {
        invalid_argument("The inputs '", arg.name, "' of '", def.type,
                         "' Op do not have the types of attribute '", arg.type_list_attr, "'.");
      }
      attrs.set(arg.type_list_attr, types);
    }
  }
  return args;
}

// Returns the length of a list attribute; -1 if it is not a list.
int64_t list_length(const AttrValue& value) {
  return std::visit(
      [](const auto& x) -> int64_t {
        using X = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<X, std::vector<int64_t>> ||
                      std::is_same_v<X, std::vector<float>> ||
                      std::is_same_v<X, std::vector<std::string>> ||
                      std::is_same_v<X, std::vector<DType>> ||
                      std::is_same_v<X, std::vector<Shape>>) {
          return static_cast<int64_t>(x.size());
        } else {
          return -1;
        }
      },
      value);
}

void check_attr_range(const OpDef& def, const AttrDef& attr, const AttrValue& value) {
  if (attr.range.is_all()) return;
  const auto* whole = std::get_if<int64_t>(&value);
  const auto* number = std::get_if<float>(&value);
  const int64_t length = list_length(value);
  if (whole && !attr.range.contains(*whole)) {
    invalid_argument("Attr '", attr.name, "' of '", def.type, "' Op must be ", attr.range, "; got ",
                     *whole, ".");
  }
  if (number && !attr.range.contains(*number)) {
    invalid_argument("Attr '", attr.name, "' of '", def.type, "' Op must be ", attr.range, "; got ",
                     *number, ".");
  }
  if (length >= 0 && !attr.range.contains(length)) {
    invalid_argument("The length of attr '", attr.name, "' of '", def.type, "' Op must be ",
                     attr.range, "; got ", length, ".");
  }
}

void check_attr(const OpDef& def, const AttrDef& attr, const AttrValue& value) {
  if (attr.type != attr_type_name(value)) {
    invalid_argument("Attribute '", attr.name, "' of '", def.type, "' Op must be of type ",
                     attr.type, "; got ", attr_type_name(value), ".");
  }
  if (const auto* type = std::get_if<DType>(&value)) {
    if (*type == DType::kInvalid) {
      invalid_argument("Attribute '", attr.name, "' of '", def.type, "' Op is not a known type.");
    }
    const auto& allowed = attr.allowed_types;
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), *type) == allowed.end()) {
      std::vector<std::string> names;
      for (DType t : allowed) names.push_back(dtype_name(t));
      invalid_argument("Value passed to parameter '", attr.name, "' of '", def.type,
                       "' Op has DataType ", dtype_name(*type),
                       " not in list of allowed values: ", str_join(names, ", "), ".");
    }
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    const auto& allowed = attr.allowed_strings;
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), *text) == allowed.end()) {
      invalid_argument("Attr '", attr.name, "' of '", def.type, "' Op passed string '", *text,
                       "' not in: ", str_join(allowed, ", "), ".");
    }
  }
  check_attr_range(def, attr, value);
}

// Whether the attributes are complete and in the order of the op's definition.
bool is_complete(const OpDef& def, const AttrMap& attrs) {
  const auto& items = attrs.items();
  if (items.size() != def.attrs.size()) return false;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].first != def.attrs[i].name) return false;
  }
  return true;
}

// Returns the attributes in the order of the op's definition, with defaults for missing ones.
AttrMap complete_attrs(const OpDef& def, AttrMap specified) {
  if (is_complete(def, specified)) {
    for (size_t i = 0; i < def.attrs.size(); ++i) {
      check_attr(def, def.attrs[i], specified.items()[i].second);
    }
    return specified;
  }
  AttrMap attrs;
  attrs.reserve(def.attrs.size());
  for (const AttrDef& attr : def.attrs) {
    const AttrValue* value = specified.find(attr.name);
    if (!value && std::holds_alternative<std::monostate>(attr.default_value)) {
      invalid_argument("Op '", def.type, "' needs the attribute '", attr.name, "'.");
    }
    if (value) check_attr(def, attr, *value);
    attrs.set(attr.name, value ? *value : attr.default_value);
  }
  for (const auto& item : specified.items()) {
    // TensorFlow allows undeclared attributes only if their names start with "_".
    if (item.first[0] == '_')
      attrs.set(item.first, item.second);
    else if (!def.find_attr(item.first)) {
      invalid_argument("Op '", def.type, "' has no attribute '", item.first, "'.");
    }
  }
  return attrs;
}

const Tensor* constant_value(const Output& output) {
  if (!output.op->def().is_constant) return nullptr;
  return std::get_if<Tensor>(output.op->attrs().find("value"));
}

}  // namespace

void Operation::throw_attr(const char* name) const {
  fail(Code::kInternal, "Op '", name_, "' (", type_, ") has no attribute '", name,
       "' of this type.");
}

void Operation::set_output_shape(int i, const Shape& shape) {
  OutputInfo& info = outputs_[static_cast<size_t>(i)];
  const Shape merged = info.shape.merge_with(shape);
  if (merged == info.shape) return;
  info.shape = merged;
  shapes_are_refined_ = true;
}

Operation* OpBuilder::build() {
  return graph_.create_op(type_, inputs_, attrs_, name_, control_inputs_);
}

Graph::Graph() : root_(this), variables_(std::make_unique<VariableStore>(*this)) {}
Graph::Graph(Graph& outer, const std::string& scope) : root_(&outer.root()), name_scope_(scope) {
  // Each function has its own range of seed numbers, far above the ids of root operations.
  first_seed_number_ = int64_t{1000003} * ++root_->functions_;
}
Graph::~Graph() = default;

Output Graph::capture(const Output& outside) {
  if (&outside.graph() == this) return outside;
  if (outside.graph().is_function()) {
    throw Error(Code::kInvalidArgument,
                str_cat("Tensor '", outside.name(), "' belongs to a function of '",
                        outside.graph().current_name_scope(), "' and cannot be used outside it."),
                {"Return it from the function."});
  }
  invalid_argument("Tensor '", outside.name(), "' is not an element of this graph.");
}

void Graph::add_outer_control_input(Operation* outside) {
  invalid_argument("Operation '", outside->name(), "' is not an element of this graph",
                   outside->graph().is_function() ? ". It belongs to a function." : ".");
}

void Graph::extend(Operation& op,
                   const std::vector<Output>& inputs,
                   const std::vector<std::pair<DType, Shape>>& outputs) {
  check_not_finalized();
  ++root_->extensions_;
  const ArgDef &in = op.def().inputs.back(), &out = op.def().outputs.back();
  for (const Output& input : inputs) {
    op.inputs_.push_back(&input.graph() == this ? input : capture(input));
    op.input_args_.push_back(&in);
  }
  const AttrValue* known_shapes = op.attrs_.find("output_shapes");
  std::vector<Shape> shapes =
      known_shapes ? std::get<std::vector<Shape>>(*known_shapes) : std::vector<Shape>();
  for (const auto& [dtype, shape] : outputs) {
    op.outputs_.push_back({dtype, out.is_ref, shape});
    shapes.push_back(Shape::unknown());
  }
  if (known_shapes) op.attrs_.set("output_shapes", shapes);
  std::vector<DType> types;
  for (size_t i = op.def().inputs.size() - 1; i < op.inputs_.size(); ++i) {
    types.push_back(op.inputs_[i].dtype());
  }
  op.attrs_.set(in.type_list_attr, types);
  types.clear();
  for (const auto& output : op.outputs_) types.push_back(output.dtype);
  op.attrs_.set(out.type_list_attr, types);
}

void Graph::check_not_finalized() const {
  if (finalized()) {
    fail(Code::kFailedPrecondition, "Graph is finalized and cannot be modified.");
  }
}

Operation* Graph::create_op(const std::string& type,
                            const std::vector<Output>& original_inputs,
                            const AttrMap& attrs,
                            const std::string& name,
                            const std::vector<Operation*>& control_inputs) {
  check_not_finalized();
  const OpDef& def = find_op(type);
  std::vector<Output> inputs = original_inputs;
  for (Output& input : inputs) {
    if (&input.graph() != this) input = capture(input);
  }
  auto op = std::unique_ptr<Operation>(new Operation);
  AttrMap inferred = attrs;
  op->input_args_ = infer_attrs(def, inputs, inferred);
  op->attrs_ = complete_attrs(def, std::move(inferred));
  op->type_ = type;
  op->def_ = &def;
  op->graph_ = this;
  op->control_inputs_ = all_control_inputs(control_inputs, inputs);
  for (const ArgDef& arg : def.outputs) {
    int64_t count = 1;
    if (!arg.number_attr.empty()) count = op->attr_int(arg.number_attr.c_str());
    if (count > kMaxOutputs) {
      invalid_argument("Operation '", type, "' would have ", count, " outputs; the maximum is ",
                       kMaxOutputs, ".");
    }
    if (!arg.type_list_attr.empty()) {
      for (DType dtype : op->attr<std::vector<DType>>(arg.type_list_attr.c_str())) {
        op->outputs_.push_back({dtype, arg.is_ref, Shape::unknown()});
      }
      continue;
    }
    const DType dtype = arg.type_attr.empty() ? arg.dtype : op->attr_type(arg.type_attr.c_str());
    for (int64_t k = 0; k < count; ++k) {
      op->outputs_.push_back({dtype, arg.is_ref, Shape::unknown()});
    }
  }
  std::vector<Shape> shapes;
  std::vector<const Tensor*> values;
  shapes.reserve(inputs.size());
  values.reserve(inputs.size());
  for (const Output& input : inputs) {
    shapes.push_back(input.shape());
    values.push_back(constant_value(input));
  }
  op->inputs_ = std::move(inputs);
  const bool is_exact = !name.empty() && name.back() == '/';
  const std::string base_name =
      is_exact ? name.substr(0, name.size() - 1) : (name.empty() ? type : name);
  op->name_ = is_exact ? base_name : name_scope_ + base_name;
  check_op_name(op->name_);
  ShapeContext context(*op, std::move(shapes), std::move(values), op->num_outputs());
  try {
    infer_shapes(context);
  } catch (...) {
    rethrow_for_op(*op);
  }
  for (int i = 0; i < op->num_outputs(); ++i) {
    op->outputs_[static_cast<size_t>(i)].shape = context.outputs()[static_cast<size_t>(i)];
  }
  if (!is_exact) op->name_ = unique_name(base_name);
  if (is_exact) root_->names_in_use_.insert(op->name_, 1);
  return add(std::move(op));
}

Operation* Graph::add(std::unique_ptr<Operation> op) {
  op->id_ = version();
  if (!by_name_.insert(op->name_, op->id_)) {
    invalid_argument("Duplicate op name '", op->name_, "'.");
  }
  operations_.push_back(std::move(op));
  return operations_.back().get();
}

Operation* Graph::copy_op(const Operation& op,
                          std::vector<Output> inputs,
                          std::vector<Operation*> control_inputs) {
  check_not_finalized();
  auto copy = std::unique_ptr<Operation>(new Operation);
  copy->name_ = op.name_;
  copy->type_ = op.type_;
  copy->def_ = op.def_;
  copy->graph_ = this;
  copy->inputs_ = std::move(inputs);
  copy->input_args_ = op.input_args_;
  copy->control_inputs_ = all_control_inputs(control_inputs, copy->inputs_);
  copy->outputs_ = op.outputs_;
  copy->attrs_ = op.attrs_;
  return add(std::move(copy));
}

std::vector<Operation*> Graph::all_control_inputs(const std::vector<Operation*>& own,
                                                  const std::vector<Output>& inputs) {
  std::vector<Operation*> all = own;
  for (auto frame = control_stack_.rbegin(); frame != control_stack_.rend(); ++frame) {
    all.insert(all.end(), frame->ops.begin(), frame->ops.end());
    if (frame->clears) break;
  }
  if (all.empty()) return all;
  std::unordered_set<const Operation*> predecessors;  // inputs are implicit dependencies
  for (const Output& input : inputs) predecessors.insert(input.op);
  std::vector<Operation*> controls;
  for (Operation* op : all) {
    ++pass_work_count();
    if (&op->graph() != this) {
      add_outer_control_input(op);
    } else if (predecessors.insert(op).second) {
      controls.push_back(op);
    }
  }
  return controls;
}

Output Graph::constant(const Tensor& value, const std::string& name) {
  return op("Const").attr("value", value).attr("dtype", value.dtype()).named(name);
}

Operation* Graph::group(const std::vector<Operation*>& ops, const std::string& name) {
  return op("NoOp").after(ops).named(name);
}

Operation* Graph::find_operation(const std::string& name) const {
  const int* id = by_name_.find(name);
  return id ? operations_[static_cast<size_t>(*id)].get() : nullptr;
}

Operation* Graph::operation(const std::string& name) const {
  if (Operation* op = find_operation(name)) return op;
  if (name.find(':') != std::string::npos) {
    invalid_argument("The name '", name, "' appears to refer to a Tensor, not an Operation.");
  }
  const std::vector<std::string> endpoints = endpoint_names(*this);
  std::vector<std::string> candidates = endpoints;
  for (const auto& op : operations_) candidates.push_back(op->name());
  std::vector<std::string> hints = did_you_mean(name, candidates);
  if (hints.empty() && !endpoints.empty()) {
    hints.push_back(str_cat("Endpoints of this model: ", str_join(endpoints, ", "), "."));
  }
  throw Error(Code::kNotFound,
              str_cat("The name '", name, "' refers to an Operation not in the graph."), hints);
}

namespace {

// Suggests endpoints first: "losss" more likely means "loss" than the summary "loss:0".
std::vector<std::string> similar_tensor_names(const Graph& graph,
                                              const std::string& name,
                                              const std::string& op_name) {
  std::vector<std::string> hints = did_you_mean(op_name, endpoint_names(graph));
  if (!hints.empty()) return hints;
  std::vector<std::string> names;
  for (const auto& op : graph.operations()) {
    for (int i = 0; i < op->num_outputs(); ++i) names.push_back(op->output(i).name());
  }
  return did_you_mean(name, names);
}

std::vector<std::string> tensor_name_hints(const Graph& graph, const std::string& name) {
  std::vector<std::string> hints = {
      str_cat("Tensor names must be of the form \"<op_name>:<output_index>\": \"", name, ":0\".")};
  const EndpointTensors& tensors = endpoint(graph, name);
  if (!tensors.empty()) {
    hints.push_back(
        str_cat("Endpoint '", name, "' is the tensor \"", tensors.front().second.name(), "\"."));
  }
  return hints;
}

}  // namespace

Output Graph::tensor(const std::string& name) const {
  const size_t colon = name.rfind(':');
  if (colon == std::string::npos) {
    if (find_operation(name)) {
      throw Error(Code::kInvalidArgument,
                  str_cat("The name '", name, "' refers to an Operation, not a Tensor."),
                  tensor_name_hints(*this, name));
    }
    invalid_argument(
        "The name '", name,
        "' looks like an (invalid) Operation name, not a Tensor. Tensor names must be of the "
        "form \"<op_name>:<output_index>\".");
  }
  const std::string op_name = name.substr(0, colon), digits = name.substr(colon + 1);
  const bool is_valid = !digits.empty() && digits.size() < 9 &&
                        digits.find_first_not_of("0123456789") == std::string::npos;
  if (!is_valid) {
    invalid_argument(
        "The name '", name,
        "' looks a like a Tensor name, but is not a valid one. Tensor names must be of the form "
        "\"<op_name>:<output_index>\".");
  }
  Operation* op = find_operation(op_name);
  if (!op) {
    throw Error(
        Code::kNotFound,
        str_cat("The name '", name, "' refers to a Tensor which does not exist. The operation, '",
                op_name, "', does not exist in the graph."),
        similar_tensor_names(*this, name, op_name));
  }
  const int index = std::stoi(digits);
  if (index >= op->num_outputs()) {
    throw Error(
        Code::kNotFound,
        str_cat("The name '", name, "' refers to a Tensor which does not exist. The operation, '",
                op_name, "', exists but only has ", op->num_outputs(), " outputs."));
  }
  return op->output(index);
}

std::variant<Output, Operation*> Graph::element(const std::string& name) const {
  if (name.find(':') != std::string::npos) return tensor(name);
  return operation(name);
}

std::string Graph::unique_name(const std::string& name, bool mark_as_used) {
  const std::string full = name_scope_ + name;
  auto& names = root_->names_in_use_;
  if (mark_as_used && names.insert(full, 1)) return full;
  const int* next_suffix = names.find(full);
  if (!next_suffix) return full;
  int suffix = *next_suffix;
  std::string candidate;
  do {
    candidate = str_cat(full, "_", suffix++);
  } while (names.find(candidate));
  if (mark_as_used) {
    *names.find(full) = suffix;
    names.insert(candidate, 1);
  }
  return candidate;
}

void Graph::add_to_collection(const std::string& name, CollectionItem item) {
  check_not_finalized();
  root_->collections_[name].push_back(std::move(item));
  ++root_->collections_version_;
}

std::string collection_item_name(const CollectionItem& item) {
  if (const auto* output = std::get_if<Output>(&item)) return output->name();
  if (auto* const* op = std::get_if<Operation*>(&item)) return (*op)->name();
  if (const auto* variable = std::get_if<std::shared_ptr<Variable>>(&item))
    return (*variable)->name();
  if (const auto* text = std::get_if<std::string>(&item)) return *text;
  return "";
}

std::vector<CollectionItem> Graph::collection(const std::string& name,
                                              const std::string& scope) const {
  std::vector<CollectionItem> items;
  auto found = root_->collections_.find(name);
  if (found == root_->collections_.end()) return items;
  for (const CollectionItem& item : found->second) {
    if (scope.empty() || collection_item_name(item).rfind(scope, 0) == 0) items.push_back(item);
  }
  return items;
}

std::vector<std::string> Graph::collection_names() const {
  std::vector<std::string> names;
  for (const auto& entry : root_->collections_) names.push_back(entry.first);
  return names;
}

NameScope::NameScope(Graph& graph, const std::string& name)
    : graph_(graph), outer_(graph.name_scope_) {
  if (name.empty()) {
    name_ = "";
  } else if (name.back() == '/') {
    name_ = name;
  } else {
    check_op_name(graph.name_scope_ + name);
    name_ = graph.unique_name(name) + "/";
  }
  graph_.name_scope_ = name_;
}

ControlDependencies::ControlDependencies(Graph& graph, std::vector<Operation*> ops, bool clears)
    : graph_(graph) {
  graph_.control_stack_.push_back({std::move(ops), clears});
}

}  // namespace runhooks
