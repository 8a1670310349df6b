#include "graph/op_registry.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "base/ascii.h"
#include "base/number_text.h"
#include "base/split_text.h"

namespace runhooks {

namespace {

std::map<std::string, OpDef>& registry() {
  static auto* ops = new std::map<std::string, OpDef>;
  return *ops;
}

// Indexes the definitions of registry() by a hash table, for a fast lookup by each new operation.
std::unordered_map<std::string, const OpDef*>& registry_index() {
  static auto* ops = new std::unordered_map<std::string, const OpDef*>;
  return *ops;
}

std::vector<std::string> split_trimmed(const std::string& text, char mark) {
  std::vector<std::string> parts = split_text(text + mark, mark);
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

std::string unquote(const std::string& text) {
  const bool quoted = text.size() >= 2 && (text[0] == '\'' || text[0] == '"');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

DType parse_dtype(const std::string& word) {
  const std::string name = ascii_lower(word.rfind("DT_", 0) == 0 ? word.substr(3) : word);
  if (name == "float") return DType::kFloat32;
  if (name == "double") return DType::kFloat64;
  return dtype_from_name(name);
}

AttrValue parse_default(const std::string& type, const std::string& text) {
  if (type == "int") return static_cast<int64_t>(std::atoll(text.c_str()));
  if (type == "float") return static_cast<float>(read_double(text.c_str(), nullptr));
  if (type == "bool") return text == "true";
  if (type == "string") return unquote(text);
  if (type == "type") return parse_dtype(text);
  if (type == "shape") return text == "unknown" ? Shape::unknown() : Shape();
  const std::string inside = trimmed(text.substr(1, text.size() - 2));
  if (type == "list(int)") {
    std::vector<int64_t> values;
    for (const auto& part : split_text(inside, ',')) values.push_back(std::atoll(part.c_str()));
    return values;
  }
  if (type == "list(type)") return std::vector<DType>();
  if (type == "list(shape)") return std::vector<Shape>();
  if (type == "list(string)") return std::vector<std::string>();
  fail(Code::kInternal, "No default can be given for an attribute of type ", type, ".");
}

// Adds the bound ">= 3" or "<= 3" to the range. Returns FALSE for other text.
bool parse_range_bound(const std::string& word, Range* range) {
  const bool is_minimum = word.rfind(">=", 0) == 0;
  if (!is_minimum && word.rfind("<=", 0) != 0) return false;
  (is_minimum ? range->has_minimum : range->has_maximum) = true;
  (is_minimum ? range->minimum : range->maximum) = std::atoll(word.c_str() + 2);
  return true;
}

// Parses "rank 2", "rank >= 1" or "rank <= 1".
void parse_rank(const std::string& word, ArgDef* arg) {
  Range range;
  if (parse_range_bound(word, &range)) {
    if (range.has_minimum) arg->min_rank = static_cast<int>(range.minimum);
    if (range.has_maximum) arg->max_rank = static_cast<int>(range.maximum);
  } else {
    arg->min_rank = arg->max_rank = std::atoi(word.c_str());
  }
}

void parse_constraint(const std::string& word, ArgDef* arg) {
  if (word == "scalar") {
    arg->max_rank = 0;
  } else if (word == "vector") {
    arg->min_rank = arg->max_rank = 1;
  } else if (word.rfind("rank ", 0) == 0) {
    parse_rank(trimmed(word.substr(5)), arg);
  } else if (word == "not empty") {
    arg->not_empty = true;
  } else if (word == "or handle") {
    arg->may_be_handle = true;
  } else if (!parse_range_bound(word, &arg->values)) {
    const size_t type_start = word.find(" of ");
    arg->handle_of = word.substr(0, type_start);
    if (type_start != std::string::npos) {
      arg->handle_type_attr = trimmed(word.substr(type_start + 4));
    }
  }
}

const std::vector<DType> kNumericTypes = {DType::kFloat32, DType::kFloat64, DType::kInt32,
                                          DType::kInt64};

}  // namespace

std::string Range::to_string() const {
  std::string out;
  if (has_minimum) out += str_cat(">= ", minimum);
  if (has_minimum && has_maximum) out += " and ";
  if (has_maximum) out += str_cat("<= ", maximum);
  return out;
}

ArgDef parse_arg(const std::string& spec) {
  const size_t colon = spec.find(':');
  ArgDef arg;
  arg.name = trimmed(spec.substr(0, colon));
  const std::vector<std::string> words = split_trimmed(spec.substr(colon + 1), ',');
  for (size_t i = 1; i < words.size(); ++i) parse_constraint(words[i], &arg);
  std::string type = words[0];
  if (type.rfind("Ref(", 0) == 0) {
    arg.is_ref = true;
    type = trimmed(type.substr(4, type.size() - 5));
  }
  const size_t star = type.find('*');
  if (star != std::string::npos) {
    arg.number_attr = trimmed(type.substr(0, star));
    type = trimmed(type.substr(star + 1));
  }
  arg.dtype = parse_dtype(type);
  if (arg.dtype == DType::kInvalid) arg.type_attr = type;
  return arg;
}

AttrDef parse_attr(const std::string& spec) {
  AttrDef attr;
  const size_t colon = spec.find(':');
  attr.name = trimmed(spec.substr(0, colon));
  std::string type_text = trimmed(spec.substr(colon + 1)), default_text;
  const size_t brace = type_text.find('}');
  const size_t equals = type_text.find(" = ", brace == std::string::npos ? 0 : brace);
  if (equals != std::string::npos) {
    default_text = trimmed(type_text.substr(equals + 3));
    type_text = trimmed(type_text.substr(0, equals));
  }
  const size_t bound = std::min(type_text.find(">="), type_text.find("<="));
  if (bound != std::string::npos) {
    for (const auto& word : split_trimmed(type_text.substr(bound), ',')) {
      parse_range_bound(word, &attr.range);
    }
    type_text = trimmed(type_text.substr(0, bound));
  }
  if (type_text[0] == '{') {
    for (const auto& word : split_trimmed(type_text.substr(1, type_text.find('}') - 1), ',')) {
      if (word[0] == '\'' || word[0] == '"') {
        attr.allowed_strings.push_back(unquote(word));
      } else {
        attr.allowed_types.push_back(parse_dtype(word));
      }
    }
    attr.type = attr.allowed_strings.empty() ? "type" : "string";
  } else if (type_text == "numbertype") {
    attr.type = "type";
    attr.allowed_types = kNumericTypes;
  } else {
    attr.type = type_text;
  }
  if (!default_text.empty()) attr.default_value = parse_default(attr.type, default_text);
  return attr;
}

Shape ShapeContext::with_rank(int i, int rank) const {
  const Shape& shape = input(i);
  if (!shape.has_rank()) return Shape::unknown_of_rank(rank);
  if (shape.rank() != rank) {
    invalid_argument("Input ", i, " must have ", rank, " dimensions; got shape ", shape, ".");
  }
  return shape;
}

const AttrDef* OpDef::find_attr(const std::string& name) const {
  for (const AttrDef& attr : attrs) {
    if (attr.name == name) return &attr;
  }
  return nullptr;
}

const OpDef* find_op_or_null(const std::string& type) {
  const auto found = registry_index().find(type);
  return found == registry_index().end() ? nullptr : found->second;
}

const OpDef& find_op(const std::string& type) {
  const OpDef* def = find_op_or_null(type);
  if (!def) fail(Code::kNotFound, "Op type not registered '", type, "'.");
  return *def;
}

const std::map<std::string, OpDef>& all_ops() { return registry(); }

namespace {
OpDef& new_op(const char* type) {
  auto inserted = registry().emplace(type, OpDef());
  // A duplicate definition is a programming error, which the registry test reports.
  if (!inserted.second)
    inserted.first->second.type = str_cat("duplicate of ", type);
  else
    inserted.first->second.type = type;
  registry_index().emplace(type, &inserted.first->second);
  return inserted.first->second;
}
}  // namespace

OpRegistration::OpRegistration(const char* type) : def_(new_op(type)) {}

OpRegistration& OpRegistration::input(const char* spec) {
  def_.inputs.push_back(parse_arg(spec));
  return *this;
}
OpRegistration& OpRegistration::output(const char* spec) {
  def_.outputs.push_back(parse_arg(spec));
  return *this;
}
OpRegistration& OpRegistration::attr(const char* spec) {
  def_.attrs.push_back(parse_attr(spec));
  // Arguments may precede the list(type) attribute that declares their types.
  for (auto* args : {&def_.inputs, &def_.outputs}) {
    for (ArgDef& arg : *args) {
      if (arg.type_attr == def_.attrs.back().name && def_.attrs.back().type == "list(type)") {
        arg.type_list_attr = arg.type_attr;
        arg.type_attr.clear();
      }
    }
  }
  return *this;
}
OpRegistration& OpRegistration::shape(std::function<void(ShapeContext&)> fn) {
  def_.shape_fn = std::move(fn);
  return *this;
}
OpRegistration& OpRegistration::kernel(KernelFactory factory) {
  def_.kernel_factory = std::move(factory);
  return *this;
}
OpRegistration& OpRegistration::gradient(GradientFn fn) {
  def_.gradient_fn = std::move(fn);
  return *this;
}
OpRegistration& OpRegistration::lower(LowerFn fn) {
  def_.lower_fn = std::move(fn);
  return *this;
}
OpRegistration& OpRegistration::not_differentiable() {
  def_.not_differentiable = true;
  return *this;
}
OpRegistration& OpRegistration::stateful() {
  def_.is_stateful = true;
  return *this;
}
OpRegistration& OpRegistration::order_insensitive() {
  def_.order_insensitive = true;
  return *this;
}
OpRegistration& OpRegistration::constant() {
  def_.is_constant = true;
  return *this;
}
OpRegistration& OpRegistration::identity() {
  def_.is_identity = true;
  def_.forwards = true;
  return *this;
}
OpRegistration& OpRegistration::forwards() {
  def_.forwards = true;
  return *this;
}
OpRegistration& OpRegistration::may_forward() {
  def_.may_forward = true;
  return *this;
}
OpRegistration& OpRegistration::shape_dependent() {
  def_.shape_dependent = true;
  return *this;
}
OpRegistration& OpRegistration::allocates_outputs() {
  def_.allocates_outputs = true;
  return *this;
}
OpRegistration& OpRegistration::holds_variable() {
  def_.holds_variable = true;
  def_.is_stateful = def_.order_insensitive = true;
  return *this;
}
OpRegistration& OpRegistration::reads_variable() {
  def_.reads_variable = true;
  def_.is_stateful = def_.order_insensitive = true;
  return *this;
}
OpRegistration& OpRegistration::mutates(int input) {
  def_.mutates.push_back(input);
  def_.is_stateful = true;
  return *this;
}
OpRegistration& OpRegistration::updates_variables() {
  def_.updates_variables = true;
  return *this;
}
OpRegistration& OpRegistration::distinct_rows() {
  def_.has_distinct_rows = true;
  return *this;
}
OpRegistration& OpRegistration::owns_resource(ResourceFactory factory) {
  def_.resource_factory = factory;
  return *this;
}
OpRegistration& OpRegistration::host_function() {
  def_.is_host_function = true;
  return *this;
}
OpRegistration& OpRegistration::reads_files() {
  def_.reads_files = true;
  return *this;
}
OpRegistration& OpRegistration::writes_files() {
  def_.writes_files = true;
  return *this;
}
OpRegistration& OpRegistration::calls_functions() {
  def_.calls_functions = true;
  return *this;
}
OpRegistration& OpRegistration::endpoint(const char* name) {
  def_.endpoints.push_back(name);
  return *this;
}
OpRegistration& OpRegistration::r(const char* signature) {
  def_.signatures.push_back(signature);
  return *this;
}
OpRegistration& OpRegistration::summary(const char* text) {
  def_.summary = text;
  return *this;
}
OpRegistration& OpRegistration::example(const char* text) {
  def_.examples.push_back(text);
  return *this;
}

void unchanged_shape(ShapeContext& c) { c.set_output(0, c.input(0)); }

void scalar_shape(ShapeContext& c) {
  for (size_t i = 0; i < c.outputs().size(); ++i) c.set_output(static_cast<int>(i), Shape());
}

void no_outputs(ShapeContext&) {}

void broadcast_shape(ShapeContext& c) { c.set_output(0, broadcast_shapes(c.input(0), c.input(1))); }

}  // namespace runhooks
