#include "op_example.h"

#include <cstring>
#include <sstream>

#include "test.h"

namespace runhooks_test {

using namespace runhooks;

namespace {

std::vector<int64_t> numbers_between(const std::string& text, char open, char close) {
  std::vector<int64_t> numbers;
  const size_t begin = text.find(open);
  if (begin == std::string::npos) return numbers;
  std::stringstream list(text.substr(begin + 1, text.find(close, begin) - begin - 1));
  std::string part;
  while (std::getline(list, part, ',')) numbers.push_back(std::stoll(part));
  return numbers;
}

Tensor parse_strings(const std::string& token) {
  if (token[1] == ':') return Tensor::string_scalar(token.substr(2));
  std::stringstream list(token.substr(2, token.size() - 3));
  std::vector<std::string> texts;
  for (std::string text; std::getline(list, text, ',');) texts.push_back(text);
  return Tensor::strings(Shape{static_cast<int64_t>(texts.size())}, texts);
}

Tensor random_tensor(char kind, const Shape& shape, DType dtype, std::mt19937& random) {
  if (kind == 'b') {
    Tensor t(DType::kBool, shape);
    for (int64_t i = 0; i < t.num_elements(); ++i) t.data<bool>()[i] = random() % 2 == 0;
    return t;
  }
  Tensor t(dtype, shape);
  std::uniform_real_distribution<double> uniform(0.3, 2.5);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    double x = uniform(random);
    if (kind == 'u') x /= 2.8;
    if (kind == 'o') x += 1;
    if ((kind == 'f' || kind == 'm' || kind == 'u') && random() % 2 == 0) x = -x;
    if (dtype == DType::kFloat64) t.data<double>()[i] = x;
    if (dtype == DType::kFloat32) t.data<float>()[i] = static_cast<float>(x);
    const auto integer = static_cast<int64_t>(x < 0 && kind == 'f' ? x - 1 : x + 1);
    if (dtype == DType::kInt32) t.data<int32_t>()[i] = static_cast<int32_t>(integer);
    if (dtype == DType::kInt64) t.data<int64_t>()[i] = integer;
  }
  return t;
}

// Divides each row by its sum, to get class probabilities.
void normalize_rows(Tensor& t) {
  if (!is_floating(t.dtype())) return;
  const int64_t n = t.shape().dim(t.shape().rank() - 1);
  for (int64_t begin = 0; begin < t.num_elements(); begin += n) {
    double sum = 0;
    for (int64_t j = begin; j < begin + n; ++j) sum += t.number_at(j);
    for (int64_t j = begin; j < begin + n; ++j) {
      if (t.dtype() == DType::kFloat64) t.data<double>()[j] /= sum;
      if (t.dtype() == DType::kFloat32) t.data<float>()[j] /= static_cast<float>(sum);
    }
  }
}

// Returns x x' + 2 I, for ops on symmetric positive definite or invertible matrices.
Output positive_definite(Graph& g, Output x) {
  const int64_t n = x.shape().dim(x.shape().rank() - 1);
  const Output identity =
      g.op("MatrixDiag",
           {g.op("Fill", {g.int_vector({static_cast<int32_t>(n)}), g.scalar(x.dtype(), 2)})});
  return g.op("AddV2", {g.op("BatchMatMulV2", {x, x}).attr("adj_y", true), identity});
}

AttrValue read_attr(const AttrDef& def, const std::string& text) {
  if (def.type == "bool") return text == "true";
  if (def.type == "int") return static_cast<int64_t>(std::stoll(text));
  if (def.type == "float") return std::stof(text);
  if (def.type == "type") return dtype_from_name(text);
  if (def.type == "shape") return Shape(numbers_between(text, '[', ']'));
  if (def.type == "list(int)") return numbers_between(text, '[', ']');
  if (def.type == "list(float)") {
    std::vector<float> numbers;
    for (int64_t x : numbers_between(text, '[', ']')) numbers.push_back(static_cast<float>(x));
    return numbers;
  }
  return text;
}

AttrMap read_attrs(const OpDef& def, const std::string& text) {
  AttrMap attrs;
  std::stringstream tokens(text);
  std::string token;
  while (tokens >> token) {
    const size_t equals = token.find('=');
    const std::string name = token.substr(0, equals);
    const AttrDef* attr = def.find_attr(name);
    if (!attr) fail_at(__FILE__, __LINE__, def.type + " has no attribute " + name);
    attrs.set(name, read_attr(*attr, token.substr(equals + 1)));
  }
  return attrs;
}

}  // namespace

OpExample build_example(const OpDef& def,
                        const std::string& example,
                        DType dtype,
                        std::mt19937& random) {
  OpExample built;
  built.graph = std::make_shared<Graph>();
  const size_t attrs_begin = example.find('|');
  std::stringstream tokens(example.substr(0, attrs_begin));
  std::string token;
  std::vector<Output> inputs;
  while (tokens >> token) {
    if (token[0] == 's') {
      inputs.push_back(built.graph->constant(parse_strings(token)));
      continue;
    }
    if (token[0] == 'i') {
      const size_t colon = token.find(':');
      if (colon != std::string::npos) {
        const auto value = static_cast<int32_t>(std::stoi(token.substr(colon + 1)));
        inputs.push_back(built.graph->constant(Tensor::scalar<int32_t>(value)));
        continue;
      }
      std::vector<int32_t> values;
      for (int64_t v : numbers_between(token, '{', '}')) values.push_back(static_cast<int32_t>(v));
      Tensor t = Tensor::vector<int32_t>(values);
      if (token[1] == '[') t = t.reshaped(Shape(numbers_between(token, '[', ']')));
      inputs.push_back(built.graph->constant(t));
      continue;
    }
    const bool has_values = token.find('{') != std::string::npos;
    if (token[0] == 'n' || (token[0] == 'e' && has_values)) {
      const DType type = token[0] == 'e' ? DType::kFloat32 : dtype;
      const std::vector<int64_t> numbers = numbers_between(token, '{', '}');
      Tensor t(type, Shape{static_cast<int64_t>(numbers.size())});
      for (size_t i = 0; i < numbers.size(); ++i) {
        const Tensor value = Tensor::number(type, static_cast<double>(numbers[i]));
        std::memcpy(static_cast<char*>(t.raw()) + i * dtype_size(type), value.raw(),
                    dtype_size(type));
      }
      if (token[1] == '[') t = t.reshaped(Shape(numbers_between(token, '[', ']')));
      inputs.push_back(built.graph->constant(t));
      continue;
    }
    if (token[0] == 'l') {
      const Tensor t = Tensor::vector<int64_t>(numbers_between(token, '{', '}'));
      const bool has_shape = token[1] == '[';
      inputs.push_back(built.graph->constant(
          has_shape ? t.reshaped(Shape(numbers_between(token, '[', ']'))) : t));
      continue;
    }
    const Shape shape(numbers_between(token, '[', ']'));
    const DType type = token[0] == 'e' ? DType::kFloat32 : dtype;
    Tensor value = random_tensor(token[0], shape, type, random);
    if (token[0] == 'd') normalize_rows(value);
    const Output placeholder =
        built.graph->op("Placeholder").attr("dtype", value.dtype()).attr("shape", shape);
    built.placeholders.push_back(placeholder);
    built.values.push_back(value);
    inputs.push_back(token[0] == 'm' ? positive_definite(*built.graph, placeholder) : placeholder);
  }
  const std::string attr_text =
      attrs_begin == std::string::npos ? "" : example.substr(attrs_begin + 1);
  built.op = built.graph->create_op(def.type, inputs, read_attrs(def, attr_text));
  return built;
}

}  // namespace runhooks_test
