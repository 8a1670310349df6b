// Datasets that depend on graph tensors: finds the free tensors and binds their values.
#include <algorithm>
#include <optional>

#include "data/dataset_function.h"
#include "graph/ancestors.h"
#include "graph/func_graph.h"
#include "graph/variable.h"
#include "session/executor.h"

namespace runhooks {

const Tensor* TensorBindings::find(const Output& tensor) const {
  const auto found = std::find(tensors.begin(), tensors.end(), tensor);
  return found == tensors.end() ? nullptr : &values[static_cast<size_t>(found - tensors.begin())];
}

namespace {

// Limits how many datasets can be chained, because each dataset calls its input recursively.
constexpr int kMaxDatasetDepth = 2000;

const ArgSpec* find_argument_spec(const std::string& type, const std::string& name) {
  for (const ArgSpec& spec : Factory<Dataset>::instance().find("dataset", type).arguments()) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

bool is_number_argument(const std::string& type, const std::string& name) {
  const ArgSpec* spec = find_argument_spec(type, name);
  return spec && spec->kind == "number";
}

void check_number(const Output& tensor, const std::string& label) {
  const bool is_single = !tensor.shape().has_rank() || tensor.shape().num_elements() == 1 ||
                         tensor.shape().num_elements() == Shape::kUnknownDim;
  if (is_numeric(tensor.dtype()) && is_single) return;
  invalid_argument(label, " must be a single number, not '", tensor.name(), "', ",
                   dtype_name(tensor.dtype()), " of shape ", tensor.shape(), ".");
}

// Replaces variables by the tensors that read them. Also checks that the tensors of number
// arguments can be numbers.
Args with_snapshots(const std::string& type, const Args& args) {
  Args tensors = args;
  for (const auto& [name, value] : args.items()) {
    const auto* variable = value.get_if<VariablePtr>();
    if (variable) tensors.set(name, Value::of((*variable)->snapshot));
    const auto* tensor = tensors.find(name) ? tensors.find(name)->get_if<Output>() : nullptr;
    if (tensor && is_number_argument(type, name)) check_number(*tensor, args.label(name));
  }
  return tensors;
}

// Replaces unbound numbers with 1; returns true if there are any.
bool replace_free_numbers(const std::string& type, Args* args) {
  bool has_free_numbers = false;
  const Args original = *args;
  for (const auto& [name, value] : original.items()) {
    if (!value.get_if<Output>() || !is_number_argument(type, name)) continue;
    args->set(name, Value::of(int64_t{1}));
    has_free_numbers = true;
  }
  return has_free_numbers;
}

void add_free_tensor(const Output& tensor, std::vector<Output>& found) {
  if (std::find(found.begin(), found.end(), tensor) == found.end()) found.push_back(tensor);
}

void find_free_tensors(const Value& value, std::vector<Output>& found) {
  if (const auto* output = value.get_if<Output>()) add_free_tensor(*output, found);
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    for (const Value& item : **list) find_free_tensors(item, found);
  }
  const auto* object = value.get_if<std::shared_ptr<CoreObject>>();
  if (!object) return;
  std::vector<Output> free_tensors;
  if (const auto* dataset = dynamic_cast<const Dataset*>(object->get())) {
    free_tensors = dataset->free_tensors();
  } else if (const auto* function = dynamic_cast<const DatasetFunction*>(object->get())) {
    free_tensors = function->free_tensors();
  } else if (const auto* dataset_valued =
                 dynamic_cast<const DatasetValuedFunction*>(object->get())) {
    // The function also captures the tensors that the datasets it returns depend on.
    free_tensors = dataset_valued->function().free_tensors();
  }
  for (const Output& tensor : free_tensors) add_free_tensor(tensor, found);
}

bool is_bound_value(const Value& value) {
  if (value.get_if<Output>()) return false;
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    return std::all_of((*list)->begin(), (*list)->end(), is_bound_value);
  }
  const auto* object = value.get_if<std::shared_ptr<CoreObject>>();
  if (!object) return true;
  if (const auto* dataset = dynamic_cast<const Dataset*>(object->get())) return dataset->is_bound();
  const auto* function = dynamic_cast<const DatasetFunction*>(object->get());
  if (function) return function->free_tensors().empty();
  // A function that returns datasets counts as unbound: these datasets may be arguments of an
  // enclosing function.
  return !dynamic_cast<const DatasetValuedFunction*>(object->get());
}

Value number_value(const Tensor& tensor, const std::string& label) {
  if (tensor.num_elements() != 1) {
    invalid_argument(label, " must be a single number, not a tensor of shape ", tensor.shape(),
                     ".");
  }
  return is_integer(tensor.dtype()) ? Value::of(tensor.integers()[0])
                                    : Value::of(tensor.number_at(0));
}

template <typename T>
Value value_of_object(const std::shared_ptr<const T>& object) {
  return Value::of(std::shared_ptr<CoreObject>(std::const_pointer_cast<T>(object)));
}

Value bound_value(const Value& value, const TensorBindings& bindings) {
  if (const auto* output = value.get_if<Output>()) {
    const Tensor* tensor = bindings.find(*output);
    return tensor ? Value::of(*tensor) : value;
  }
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    const auto items = std::make_shared<ValueList>();
    for (const Value& item : **list) items->push_back(bound_value(item, bindings));
    return Value::of(items);
  }
  const auto* object = value.get_if<std::shared_ptr<CoreObject>>();
  if (!object) return value;
  if (const auto* dataset = dynamic_cast<const Dataset*>(object->get())) {
    return value_of_object(dataset->bind(bindings));
  }
  if (const auto* function = dynamic_cast<const DatasetFunction*>(object->get())) {
    return value_of_object(function->bind(bindings));
  }
  const auto* dataset_valued = dynamic_cast<const DatasetValuedFunction*>(object->get());
  return dataset_valued ? value_of_object(dataset_valued->bind(bindings)) : value;
}

}  // namespace

void Dataset::each_dataset(const Value& value, const std::function<void(const Dataset&)>& visit) {
  if (const auto* object = value.get_if<std::shared_ptr<CoreObject>>()) {
    const auto* dataset = dynamic_cast<const Dataset*>(object->get());
    if (dataset) visit(*dataset);
  } else if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    for (const Value& item : **list) each_dataset(item, visit);
  }
}

std::shared_ptr<Dataset> make_dataset(const std::string& type, const Args& args) {
  int depth = 1;
  bool is_shard = false;
  for (const auto& item : args.items()) {
    Dataset::each_dataset(item.second, [&](const Dataset& input) {
      depth = std::max(depth, 1 + input.depth_);
      is_shard = is_shard || input.is_part();
    });
  }
  if (depth > kMaxDatasetDepth) {
    throw Error(Code::kResourceExhausted,
                str_cat("Datasets can be nested at most ", kMaxDatasetDepth, " levels deep."),
                {"Pass all files or datasets to one source instead of concatenating them."});
  }
  const Args resolved = with_snapshots(type, args);
  Args probe = resolved;
  const bool has_free_numbers = replace_free_numbers(type, &probe);
  std::shared_ptr<Dataset> dataset = Factory<Dataset>::instance().make("dataset", type, probe);
  if (!has_free_numbers) dataset->validate_arguments(resolved);
  dataset->depth_ = depth;
  dataset->is_shard_ = is_shard;
  dataset->type_ = type;
  dataset->args_ = resolved;
  dataset->is_bound_ = std::all_of(resolved.items().begin(), resolved.items().end(),
                                   [](const auto& item) { return is_bound_value(item.second); });
  return dataset;
}

std::optional<int64_t> Dataset::constant_or_nullopt(const std::string& argument) const {
  const Value* value = args_.find(argument);
  const Output* tensor = value ? value->get_if<Output>() : nullptr;
  if (!tensor) return args_.integer(argument);
  if (!tensor->op->def().is_constant) return std::nullopt;
  const auto& constant = tensor->op->attr<Tensor>("value");
  return constant.num_elements() == 1
             ? std::optional<int64_t>(static_cast<int64_t>(constant.number_at(0)))
             : std::nullopt;
}

std::vector<Output> Dataset::free_tensors() const {
  std::vector<Output> result;
  for (const auto& item : args_.items()) find_free_tensors(item.second, result);
  return result;
}

std::shared_ptr<const Dataset> Dataset::bind(const TensorBindings& bindings) const {
  if (auto other = replaced(bindings)) return other;
  if (is_bound() || type_.empty()) return shared_from_this();
  Args args(args_.owner());
  for (const auto& [name, value] : args_.items()) {
    const Value bound = bound_value(value, bindings);
    const auto* tensor = value.get_if<Output>() ? bound.get_if<Tensor>() : nullptr;
    const bool is_number = tensor && is_number_argument(type_, name);
    args.set(name, is_number ? number_value(*tensor, args_.label(name)) : bound);
  }
  return make_dataset(type_, args);
}

// --- datasets that depend on constants only

namespace {

bool is_argument(const Operation& op) {
  const auto* function = dynamic_cast<const FuncGraph*>(&op.graph());
  if (!function) return false;
  const auto& arguments = function->arguments();
  return std::any_of(arguments.begin(), arguments.end(),
                     [&op](const FuncGraph::Argument& x) { return x.inside.op == &op; });
}

// Returns a stateful operation that the tensor depends on, so that it is not constant, or NULL.
const Operation* find_unstable_ancestor(const Output& tensor) {
  return find_ancestor(tensor.op, Through::kInputsAndControl, [](const Operation& op) {
    return any_nested_operation(op, [&op](const Operation& x) {
      return x.def().is_stateful && !x.def().calls_functions && (&x == &op || !is_argument(x));
    });
  });
}

}  // namespace

bool has_constants_only(const Dataset& dataset) {
  const std::vector<Output> free_tensors = dataset.free_tensors();
  return std::none_of(free_tensors.begin(), free_tensors.end(), find_unstable_ancestor);
}

std::shared_ptr<const Dataset> with_constants(const std::shared_ptr<const Dataset>& dataset) {
  const std::vector<Output> free_tensors = dataset->free_tensors();
  if (free_tensors.empty()) return dataset;
  for (const Output& tensor : free_tensors) {
    const Operation* op = find_unstable_ancestor(tensor);
    if (!op) continue;
    throw Error(Code::kInvalidArgument,
                str_cat("The dataset depends on '", tensor.name(),
                        "', which has no value before a session runs: '", op->name(), "' (",
                        op->type(), ") is fed or may change."),
                {"Use make_iterator_initializable(); its initializer reads the value."});
  }
  ResourceManager resources;
  Executor executor(std::make_shared<NodeTable>(resources, BufferOptions()),
                    {free_tensors.begin(), free_tensors.end()}, {});
  executor.run(std::vector<Tensor>());
  Components values;
  for (size_t i = 0; i < free_tensors.size(); ++i) values.push_back(executor.result(i).copy());
  return dataset->bind({free_tensors, values});
}

}  // namespace runhooks
