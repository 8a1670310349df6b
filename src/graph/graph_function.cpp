#include "graph/graph_function.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "graph/variable.h"

namespace runhooks {

namespace {

// A registered function. The signature stays text until all_graph_functions() parses it.
struct Registration {
  const char* signature;
  const char* summary;
  GraphFunction function;
  bool is_scoped;
};
std::vector<Registration>& registrations() {
  static auto* all = new std::vector<Registration>;
  return *all;
}

Tensor convert_tensor(const Tensor& tensor, DType dtype) {
  if (dtype == DType::kInvalid || tensor.dtype() == dtype) return tensor;
  Tensor converted(dtype, tensor.shape());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const Tensor element = Tensor::number(dtype, tensor.number_at(i));
    std::memcpy(static_cast<char*>(converted.raw()) + static_cast<size_t>(i) * dtype_size(dtype),
                element.raw(), dtype_size(dtype));
  }
  return converted;
}

// Stores a number, or 0 or 1 for a flag, and the default type of its tensor. Returns FALSE for
// other values.
bool get_number_or_flag(const Value& value, double* x, DType* default_dtype) {
  if (const bool* flag = value.get_if<bool>()) {
    *x = *flag;
    *default_dtype = DType::kBool;
    return true;
  }
  *default_dtype = value.get_if<int64_t>() ? DType::kInt32 : DType::kFloat32;
  return value_number(value, x);
}

bool is_list_of_numbers(const ValueList& list) {
  double x;
  DType default_dtype;
  return std::all_of(list.begin(), list.end(), [&](const Value& element) {
    return get_number_or_flag(element, &x, &default_dtype);
  });
}

Output constant_of_list(Graph& graph, const ValueList& list, const std::string& name, DType dtype) {
  Tensor numbers(DType::kFloat64, Shape{static_cast<int64_t>(list.size())});
  DType default_dtype = dtype == DType::kInvalid ? DType::kFloat32 : dtype;
  for (size_t i = 0; i < list.size(); ++i) {
    double x;
    DType element_dtype;
    get_number_or_flag(list[i], &x, &element_dtype);
    if (dtype == DType::kInvalid) default_dtype = element_dtype;
    numbers.data<double>()[i] = x;
  }
  return graph.constant(convert_tensor(numbers, default_dtype), name);
}

// Converts nested lists of numbers and arrays to one array. Returns nullopt if types or shapes
// differ, or if the lists contain other values.
std::optional<Tensor> to_array(const Value& value, DType dtype) {
  if (const auto* array = value.get_if<Tensor>()) {
    if (!is_numeric(array->dtype())) return std::nullopt;
    return convert_tensor(*array, dtype);
  }
  double x;
  DType default_dtype;
  if (get_number_or_flag(value, &x, &default_dtype)) {
    return Tensor::number(dtype == DType::kInvalid ? default_dtype : dtype, x);
  }
  const auto* list = value.get_if<std::shared_ptr<ValueList>>();
  if (!list || (*list)->empty()) return std::nullopt;
  std::vector<Tensor> parts;
  for (const Value& item : **list) {
    auto part = to_array(item, dtype);
    const bool fits =
        part &&
        (parts.empty() || (part->dtype() == parts[0].dtype() && part->shape() == parts[0].shape()));
    if (!fits) return std::nullopt;
    parts.push_back(std::move(*part));
  }
  Shape shape{static_cast<int64_t>(parts.size())};
  for (const int64_t dim : parts[0].shape().dims()) shape.append(dim);
  Tensor stacked(parts[0].dtype(), shape);
  for (size_t i = 0; i < parts.size(); ++i) {
    std::memcpy(static_cast<char*>(stacked.raw()) + i * parts[i].num_bytes(), parts[i].raw(),
                parts[i].num_bytes());
  }
  return stacked;
}

// Stacks tensors, lists and numbers. Numbers take the type of the first tensor.
Output stack_list(Graph& graph, const ValueList& list, const std::string& name, DType dtype) {
  std::vector<Output> parts(list.size());
  auto is_tensor = [](const Value& x) { return x.get_if<Output>() || x.get_if<VariablePtr>(); };
  for (const bool adds_tensors : {true, false}) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (is_tensor(list[i]) != adds_tensors) continue;
      parts[i] = tensor_of_value(graph, list[i], name, dtype);
      if (adds_tensors && dtype == DType::kInvalid) dtype = parts[i].dtype();
    }
  }
  return graph.op("Pack", parts).attr("axis", 0).named(name);
}

}  // namespace

const std::vector<GraphFunctionDef>& all_graph_functions() {
  static const auto* all = [] {
    auto* defs = new std::vector<GraphFunctionDef>;
    for (const Registration& r : registrations()) {
      defs->push_back({parse_signature(r.signature), r.summary, r.function, r.is_scoped});
    }
    return defs;
  }();
  return *all;
}

bool register_graph_function(const char* signature,
                             const char* summary,
                             GraphFunction function,
                             bool is_scoped) {
  registrations().push_back({signature, summary, function, is_scoped});
  return true;
}

Value call_graph_function(const GraphFunctionDef& def,
                          Graph& graph,
                          const Args& args,
                          const std::vector<std::string>& specified) {
  std::unique_ptr<NameScope> scope;
  if (def.is_scoped && args.has("name")) {
    scope = std::make_unique<NameScope>(graph, args.text("name"));
  }
  const Value result = def.function(graph, args);
  const std::vector<std::string> unread = args.unread();
  for (const std::string& name : specified) {
    if (std::find(unread.begin(), unread.end(), name) == unread.end()) continue;
    throw Error(Code::kUnimplemented,
                str_cat("Unused argument: `", name, "` of ", args.owner(), " is not supported."),
                {"Leave it at its default."});
  }
  return result;
}

Output variable_value(Graph& graph, const Variable& variable) {
  if (!variable.is_resource || !graph.is_function()) return variable.snapshot;
  return graph.op("ReadVariableOp", {variable.handle}).attr("dtype", variable.dtype);
}

Output tensor_of_value(Graph& graph, const Value& value, const std::string& name, DType dtype) {
  if (const auto* tensor = value.get_if<Output>()) return *tensor;
  if (const auto* variable = value.get_if<VariablePtr>()) return variable_value(graph, **variable);
  if (const Gradient* rows = indexed_slices_in(value)) return dense_gradient(graph, *rows);
  if (const auto* array = value.get_if<Tensor>()) {
    return graph.constant(convert_tensor(*array, dtype), name);
  }
  double x;
  DType default_dtype;
  if (get_number_or_flag(value, &x, &default_dtype)) {
    return graph.scalar(dtype == DType::kInvalid ? default_dtype : dtype, x, name);
  }
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    if (is_list_of_numbers(**list)) return constant_of_list(graph, **list, name, dtype);
    if (const auto array = to_array(value, dtype)) return graph.constant(*array, name);
    return stack_list(graph, **list, name, dtype);
  }
  invalid_argument("`", name, "` must be a tensor or numbers, not ", value.kind(), ".");
}

bool has_tensor(const Value& value) {
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    return std::any_of((*list)->begin(), (*list)->end(), has_tensor);
  }
  return value.get_if<Output>() || value.get_if<VariablePtr>() || indexed_slices_in(value);
}

Shape known_shape(const Value& value) {
  const auto* list = value.get_if<std::shared_ptr<ValueList>>();
  if (!list) return Shape::unknown();
  Shape shape;
  for (const Value& dim : **list) {
    double number;
    shape.append(value_number(dim, &number) ? static_cast<int64_t>(number) : Shape::kUnknownDim);
  }
  return shape;
}

Output tensor_argument(Graph& graph, const Args& args, const std::string& name, DType dtype) {
  const Value* value = args.find(name);
  if (!value) invalid_argument("`", name, "` of ", args.owner(), " is missing.");
  return tensor_of_value(graph, *value, name, dtype);
}

Gradient gradient_of_value(Graph& graph, const Value& value, const std::string& name) {
  if (value.is_null()) return {};
  const Gradient* rows = indexed_slices_in(value);
  return rows ? *rows : Gradient(tensor_of_value(graph, value, name));
}

Gradient gradient_argument(Graph& graph, const Args& args, const std::string& name) {
  const Value* value = args.find(name);
  return value && indexed_slices_in(*value) ? *indexed_slices_in(*value) : Gradient(tensor_argument(graph, args, name));
}

Output tensor_argument_or_none(Graph& graph,
                               const Args& args,
                               const std::string& name,
                               DType dtype) {
  const Value* value = args.find(name);
  return value ? tensor_of_value(graph, *value, name, dtype) : Output();
}

DType dtype_argument(const Args& args, const std::string& name, DType otherwise) {
  if (!args.has(name)) return otherwise;
  const DType dtype = dtype_from_name(args.text(name));
  if (dtype == DType::kInvalid) {
    invalid_argument("`", name, "` of ", args.owner(), " must be the name of a type, not '",
                     args.text(name), "'.");
  }
  return dtype;
}

ValueList values_argument(const Args& args, const std::string& name) {
  const Value* value = args.find(name);
  if (!value) return {};
  const auto* list = value->get_if<std::shared_ptr<ValueList>>();
  return list ? **list : ValueList{*value};
}

std::vector<int64_t> whole_numbers(const Args& args, const std::string& name) {
  std::vector<int64_t> numbers;
  const Value* value = args.find(name);
  if (value && value->get_if<Tensor>()) {
    const Tensor& array = *value->get_if<Tensor>();
    for (int64_t i = 0; i < array.num_elements(); ++i) {
      numbers.push_back(static_cast<int64_t>(array.number_at(i)));
    }
    return numbers;
  }
  for (const Value& element : values_argument(args, name)) {
    double x;
    if (!value_number(element, &x)) {
      invalid_argument("`", name, "` of ", args.owner(), " must be whole numbers, not ",
                       element.kind(), ".");
    }
    numbers.push_back(static_cast<int64_t>(x));
  }
  return numbers;
}

Value value_list(const std::vector<Output>& outputs) {
  auto list = std::make_shared<ValueList>();
  for (const Output& output : outputs) list->push_back(Value::of(output));
  return Value::of(list);
}

Value value_record(const std::vector<std::pair<std::string, Output>>& outputs) {
  auto record = std::make_shared<Args>();
  for (const auto& [name, output] : outputs) record->set(name, Value::of(output));
  return Value::of(record);
}

}  // namespace runhooks
