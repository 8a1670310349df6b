#include "invalid_inputs.h"

#include <algorithm>
#include <limits>

#include "data/in_memory.h"
#include "op_example.h"
#include "ops/state/py_func.h"
#include "ops/state/tensor_list.h"

namespace runhooks_test {

using namespace runhooks;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

void set_number(Tensor& t, int64_t i, int64_t whole, double number) {
  switch (t.dtype()) {
    case DType::kFloat32:
      t.data<float>()[i] = static_cast<float>(number);
      break;
    case DType::kFloat64:
      t.data<double>()[i] = number;
      break;
    case DType::kInt32:
      t.data<int32_t>()[i] = static_cast<int32_t>(whole);
      break;
    case DType::kInt64:
      t.data<int64_t>()[i] = whole;
      break;
    default:
      t.data<uint8_t>()[i] = t.dtype() == DType::kBool ? whole % 2 != 0 : whole & 255;
  }
}

// Returns TRUE if the graph infers the attribute from the inputs.
bool follows_from_inputs(const OpDef& def, const AttrDef& attr) {
  return std::any_of(def.inputs.begin(), def.inputs.end(), [&attr](const ArgDef& arg) {
    return arg.type_attr == attr.name || arg.number_attr == attr.name ||
           arg.type_list_attr == attr.name;
  });
}

// A function for PyFunc that returns outputs of the expected number and types, or sometimes others.
class IllFunction : public TensorFunction {
 public:
  explicit IllFunction(std::mt19937& random) : random_(random) {}
  std::vector<Tensor> call(const std::vector<Tensor>&, const std::vector<DType>& wanted) override {
    IllTensors ill(random_);
    std::vector<Tensor> results;
    for (DType type : wanted) {
      results.push_back(ill.tensor(ill.chance(0.9) ? type : ill.dtype(), ill.shape()));
    }
    if (ill.chance(0.1)) results.resize(results.size() / 2);
    return results;
  }

 private:
  std::mt19937& random_;
};

}  // namespace

bool IllTensors::chance(double probability) {
  return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
}

int64_t IllTensors::between(int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random_);
}

DType IllTensors::dtype() {
  static const std::vector<DType> types = {DType::kFloat32, DType::kFloat64, DType::kInt32,
                                           DType::kInt64,   DType::kBool,    DType::kString,
                                           DType::kUint8};
  return one_of(types);
}

Shape IllTensors::shape() {
  return shape_of_rank(static_cast<int>(between(0, chance(0.1) ? 8 : 4)));
}

Shape IllTensors::shape_of_rank(int rank) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.append(between(chance(0.1) ? 0 : 1, rank > 4 ? 2 : 4));
  if (rank == 1 && chance(0.05)) shape.set_dim(0, 70);
  return shape;
}

int64_t IllTensors::integer() {
  static const std::vector<int64_t> numbers = {-1,
                                               0,
                                               1,
                                               2,
                                               3,
                                               5,
                                               -2,
                                               -5,
                                               100,
                                               1 << 20,
                                               2147483647,
                                               -2147483648,
                                               int64_t{1} << 31,
                                               int64_t{1} << 40,
                                               int64_t{1} << 56,
                                               (int64_t{1} << 62) + 1,
                                               std::numeric_limits<int64_t>::max(),
                                               std::numeric_limits<int64_t>::min()};
  return one_of(numbers);
}

std::string IllTensors::text() {
  static const std::vector<std::string> texts = {"",
                                                 "a",
                                                 "b",
                                                 "1.5",
                                                 "-3",
                                                 "s",
                                                 "%n%s",
                                                 "\xff\xfe",
                                                 std::string("x\0y", 3),
                                                 "1e999",
                                                 std::string(300, 'z'),
                                                 "0",
                                                 "sum",
                                                 "NHWC",
                                                 "/nowhere/at/all"};
  return one_of(texts);
}

// Returns element i of a tensor. By `mode`, the elements are like indices, increasing, small or
// extreme.
int64_t IllTensors::element(int mode, int64_t i) {
  if (mode < 5) return between(0, 3);
  if (mode == 5) return i / 2;
  if (mode < 9) return between(-2, 5);
  return integer();
}

Tensor IllTensors::tensor(DType dtype, const Shape& shape) {
  Tensor t(dtype, shape);
  const auto n = t.num_elements();
  if (dtype == DType::kString) {
    std::vector<std::string> texts;
    for (int64_t i = 0; i < n; ++i) texts.push_back(text());
    return Tensor::strings(shape, texts);
  }
  if (dtype == DType::kVariant && chance(0.8)) {
    TensorList list(chance(0.9) ? DType::kFloat32 : this->dtype(), Shape::unknown());
    for (int64_t i = between(0, 3); i > 0; --i) {
      list = list.with_pushed(chance(0.2) ? Tensor() : this->tensor(list.dtype(), this->shape()));
    }
    return list_tensor(list);
  }
  if (dtype_size(dtype) == 0) return t;
  static const std::vector<double> extremes = {kNan, kInfinite, -kInfinite, 0,    -0.0,
                                               1e30, -1e300,    1e-40,      1e300};
  const auto mode = static_cast<int>(between(0, 9));
  for (int64_t i = 0; i < n; ++i) {
    const double number =
        mode == 9 ? one_of(extremes) : std::uniform_real_distribution<double>(-2, 2)(random_);
    set_number(t, i, element(mode, i), number);
  }
  return t;
}

AttrValue IllTensors::attr(const AttrDef& def) {
  const std::string type = chance(0.95) ? def.type : "string";
  const int64_t length = between(0, 3);
  if (type == "int") return integer();
  if (type == "float") return static_cast<float>(one_of(std::vector<double>{0, 1, -1, kNan, 1e30}));
  if (type == "bool") return chance(0.5);
  if (type == "type") {
    if (!def.allowed_types.empty() && chance(0.7)) return one_of(def.allowed_types);
    return chance(0.9) ? dtype() : chance(0.5) ? DType::kResource : DType::kInvalid;
  }
  if (type == "shape") return chance(0.2) ? Shape::unknown() : shape();
  if (type == "tensor") return chance(0.1) ? Tensor() : tensor(dtype(), shape());
  if (type == "list(int)") {
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < length; ++i) numbers.push_back(integer());
    return numbers;
  }
  if (type == "list(float)") {
    return std::vector<float>{1, 0, static_cast<float>(integer())};
  }
  if (type == "list(type)") {
    std::vector<DType> types;
    for (int64_t i = 0; i < length; ++i) types.push_back(dtype());
    return types;
  }
  if (type == "list(shape)") return std::vector<Shape>(static_cast<size_t>(length), shape());
  if (!def.allowed_strings.empty() && chance(0.7)) return one_of(def.allowed_strings);
  return text();
}

IllCall::IllCall(const OpDef& def, std::mt19937& random)
    : def_(def), random_(random), ill_(random) {
  usual_shape_ = ill_.shape();
  if (!def.examples.empty() && ill_.chance(0.7)) {
    take_example(ill_.one_of(def.examples));
  } else {
    take_definition();
  }
  spoil_attrs();
  std::vector<Output> outputs;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    outputs.push_back(inputs_[i].is_valid() ? output_of(inputs_[i]) : handle_for(*args_[i]));
  }
  op_ = graph_->create_op(def.type, outputs, attrs_);
  if (def.type == "IteratorV2") op_->payload = iterator().op->payload;
  if (def.type.rfind("PyFunc", 0) == 0) op_->payload = std::make_shared<IllFunction>(random);
}

// Takes the inputs of the op's example, most of them unchanged.
void IllCall::take_example(const std::string& text) {
  std::vector<DType> types = {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64};
  std::shuffle(types.begin(), types.end(), random_);
  OpExample example;
  while (!example.op) {
    try {
      example = build_example(def_, text, types.back(), random_);
    } catch (const Error&) {
      types.pop_back();  // tries another type: this op may accept only some types
      if (types.empty()) throw;
    }
  }
  size_t placeholder = 0;
  for (int i = 0; i < static_cast<int>(example.op->inputs().size()); ++i) {
    const Operation& source = *example.op->input(i).op;
    inputs_.push_back(source.type() == "Const" ? source.attr<Tensor>("value")
                                               : example.values[placeholder++]);
    args_.push_back(&example.op->input_arg(i));
  }
  for (const AttrDef& attr : def_.attrs) {
    if (!follows_from_inputs(def_, attr)) {
      attrs_.set(attr.name, *example.op->attrs().find(attr.name));
    }
  }
  spoil_inputs();
}

void IllCall::spoil_inputs() {
  for (Tensor& input : inputs_) {
    if (ill_.chance(0.7)) continue;
    switch (ill_.between(0, 4)) {
      case 0:
        input = ill_.tensor(input.dtype(), input.shape());
        break;
      case 1:
        input = ill_.tensor(input.dtype(), ill_.shape());
        break;
      case 2:
        input = ill_.tensor(input.dtype(), ill_.shape_of_rank(input.shape().rank()));
        break;
      case 3:
        input = ill_.tensor(input.dtype(), Shape{0});
        break;
      default:
        if (ill_.chance(0.3)) input = ill_.tensor(ill_.dtype(), input.shape());
    }
  }
  if (inputs_.empty() || ill_.chance(0.9)) return;
  // Repeats one input, so that the number of inputs is unexpected.
  const int64_t more = ill_.chance(0.5) ? 1 : 70;
  const auto at = static_cast<size_t>(ill_.between(0, static_cast<int64_t>(inputs_.size()) - 1));
  const Tensor again = inputs_[at];
  inputs_.insert(inputs_.begin() + static_cast<std::ptrdiff_t>(at), static_cast<size_t>(more),
                 again);
  args_.insert(args_.begin() + static_cast<std::ptrdiff_t>(at), static_cast<size_t>(more),
               args_[at]);
}

void IllCall::take_definition() {
  for (const ArgDef& arg : def_.inputs) {
    const size_t n = num_inputs_of(arg);
    for (size_t k = 0; k < n; ++k) {
      const bool is_handle = arg.is_ref || arg.takes_handles();
      args_.push_back(&arg);
      inputs_.push_back(is_handle ? Tensor() : ill_.tensor(type_of(arg), shape_for(arg)));
    }
  }
}

size_t IllCall::num_inputs_of(const ArgDef& arg) {
  if (arg.number_attr.empty() && arg.type_list_attr.empty()) return 1;
  const AttrValue* known = types_.find(arg.number_attr);
  if (known && ill_.chance(0.9)) return static_cast<size_t>(std::get<int64_t>(*known));
  const int64_t n = ill_.chance(0.1) ? 70 : ill_.between(0, 3);
  if (!arg.number_attr.empty()) types_.set(arg.number_attr, n);
  return static_cast<size_t>(n);
}

DType IllCall::type_of(const ArgDef& arg) {
  if (arg.type_attr.empty()) return arg.dtype == DType::kInvalid ? ill_.dtype() : arg.dtype;
  const AttrValue* known = types_.find(arg.type_attr);
  if (known && ill_.chance(0.95)) return std::get<DType>(*known);
  const AttrDef* attr = def_.find_attr(arg.type_attr);
  const DType type = attr && !attr->allowed_types.empty() && ill_.chance(0.95)
                         ? ill_.one_of(attr->allowed_types)
                         : ill_.dtype();
  types_.set(arg.type_attr, type);
  return type;
}

// Returns a shape for an input, usually one that the op's definition allows.
Shape IllCall::shape_for(const ArgDef& arg) {
  const bool may_be_usual =
      usual_shape_.rank() >= arg.min_rank && usual_shape_.rank() <= arg.max_rank;
  if (may_be_usual && ill_.chance(0.6)) return usual_shape_;
  if (ill_.chance(0.1)) return ill_.shape();
  const bool is_vector = arg.min_rank == 1 && arg.max_rank == 1;
  if (is_vector && usual_shape_.rank() > 0 && ill_.chance(0.7)) return Shape{usual_shape_.dim(0)};
  return ill_.shape_of_rank(static_cast<int>(
      ill_.between(arg.min_rank, std::min(arg.max_rank, std::max(arg.min_rank, 3)))));
}

void IllCall::spoil_attrs() {
  for (const AttrDef& attr : def_.attrs) {
    const bool is_there = attrs_.find(attr.name) != nullptr;
    const bool is_needed = std::holds_alternative<std::monostate>(attr.default_value);
    const bool is_missing = is_needed && !is_there && !follows_from_inputs(def_, attr);
    if (ill_.chance(is_missing ? 0.95 : 0.06)) {
      attrs_.set(attr.name, ill_.attr(attr));
    }
  }
}

Output IllCall::output_of(const Tensor& value) {
  if (ill_.chance(0.4)) return graph_->constant(value);
  const Output placeholder =
      graph_->op("Placeholder")
          .attr("dtype", value.dtype())
          .attr("shape", ill_.chance(0.8) ? Shape::unknown() : value.shape());
  fed_.push_back({placeholder, value});
  return placeholder;
}

Output IllCall::handle_for(const ArgDef& arg) {
  const bool is_good = ill_.chance(0.9);
  const std::string kind = arg.is_ref ? "ref" : arg.handle_of;
  const DType dtype = ill_.chance(0.95) && !types_.items().empty()
                          ? type_of(arg.type_attr.empty() ? def_.inputs.back() : arg)
                          : ill_.dtype();
  if (is_good && kind == "ref") return variable(false, dtype);
  if (is_good && kind == "variable") return variable(true, dtype);
  if (is_good && kind == "table") return table();
  if (is_good && kind == "iterator") return iterator();
  switch (ill_.between(0, 5)) {
    case 0:
      return variable(true, dtype);
    case 1:
      return variable(false, dtype);
    case 2:
      return table();
    case 3:
      return iterator();
    case 4:
      return output_of(Tensor(DType::kResource, Shape()));
    default:
      return output_of(ill_.tensor(ill_.dtype(), ill_.shape()));
  }
}

Output IllCall::variable(bool is_resource, DType dtype) {
  Held held;
  const Shape shape = ill_.chance(0.8) ? usual_shape_ : ill_.shape();
  held.value = ill_.tensor(dtype, shape);
  held.variable.handle = graph_->op(is_resource ? "VarHandleOp" : "VariableV2")
                             .attr("dtype", dtype)
                             .attr("shape", ill_.chance(0.5) ? shape : Shape::unknown());
  held.variable.dtype = dtype;
  if (ill_.chance(0.9)) held_.push_back(held);
  return held.variable.handle;
}

Output IllCall::table() {
  static const std::vector<DType> kTypes = {DType::kString, DType::kInt64, DType::kInt32};
  const DType key = ill_.one_of(kTypes), value = ill_.one_of(kTypes);
  const Output table = graph_->op("HashTableV2").attr("key_dtype", key).attr("value_dtype", value);
  const Output keys = graph_->constant(ill_.tensor(key, Shape{3}));
  const Output values = graph_->constant(ill_.tensor(value, Shape{3}));
  initializers_.push_back(graph_->op("InitializeTableV2", {table, keys, values}));
  return table;
}

Output IllCall::iterator() {
  InMemoryOptions options;
  options.batch_size = ill_.between(1, 4);
  const auto dataset =
      in_memory_dataset({InMemoryColumn(ill_.tensor(ill_.dtype(), Shape{6, 2}))}, options);
  return next_element(*graph_, dataset)[0].op->input(0);
}

std::vector<Fetch> IllCall::fetches() const {
  std::vector<Fetch> all = {Fetch(op_)};
  for (int i = 0; i < op_->num_outputs(); ++i) {
    const bool is_tensor = dtype_size(op_->output_dtype(i)) > 0 && !op_->output_is_ref(i);
    if (is_tensor) all.push_back(op_->output(i));
  }
  return all;
}

void IllCall::initialize(Session& session) {
  for (const Held& held : held_) session.assign(held.variable, held.value);
  for (Operation* op : initializers_) session.run(op);
}

Feeds IllCall::feeds() {
  Feeds feeds;
  for (Fed& fed : fed_) {
    feeds.emplace_back(fed.placeholder, fed.value);
    if (ill_.chance(0.5)) fed.value = ill_.tensor(fed.value.dtype(), fed.value.shape());
    if (ill_.chance(0.2)) fed.value = ill_.tensor(fed.value.dtype(), ill_.shape());
  }
  return feeds;
}

}  // namespace runhooks_test
