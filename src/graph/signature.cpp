#include "graph/signature.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/number_text.h"

namespace runhooks {

namespace {

// Converts an op type to a function name: "SquaredDifference" becomes squared_difference,
// "GatherV2" gather.
std::string snake_case(const std::string& type) {
  const bool is_v2 = type.size() > 2 && type.compare(type.size() - 2, 2, "V2") == 0;
  std::string snake;
  for (size_t i = 0; i < type.size() - (is_v2 ? 2 : 0); ++i) {
    const bool is_upper = is_ascii_upper(type[i]);
    const bool after_lower = i > 0 && !is_ascii_upper(type[i - 1]);
    if (is_upper && after_lower) snake += '_';
    snake += ascii_lower(type[i]);
  }
  return snake;
}

bool is_list(const AttrValue& value) {
  return std::holds_alternative<std::vector<int64_t>>(value) ||
         std::holds_alternative<std::vector<DType>>(value) ||
         std::holds_alternative<std::vector<Shape>>(value) ||
         std::holds_alternative<std::vector<std::string>>(value);
}

// Returns the default of an attribute as R code; empty if the attribute is required.
std::string default_as_r_code(const AttrDef& attr) {
  const AttrValue& value = attr.default_value;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "TRUE" : "FALSE";
  if (const auto* whole = std::get_if<int64_t>(&value)) return str_cat(*whole);
  if (const auto* number = std::get_if<float>(&value)) {
    // A float has seven significant digits: "0.2", not "0.200000003".
    return format_text("%.7g", static_cast<double>(*number));
  }
  if (const auto* type = std::get_if<DType>(&value)) return str_cat("'", dtype_name(*type), "'");
  if (std::holds_alternative<Shape>(value)) return "NULL";
  if (is_list(value)) return "list()";
  const auto* text = std::get_if<std::string>(&value);
  if (!text) return "";
  std::string quoted = "'";
  for (const char c : *text) quoted += c == '\t' ? "\\t" : std::string(1, c);
  return quoted + "'";
}

// Whether the inputs determine the attribute: their type or their number.
bool is_inferred(const OpDef& def, const AttrDef& attr) {
  return std::any_of(def.inputs.begin(), def.inputs.end(), [&](const ArgDef& arg) {
    return arg.type_attr == attr.name || arg.number_attr == attr.name ||
           arg.type_list_attr == attr.name;
  });
}

ArgSpec named_argument(const std::string& name, const std::string& fallback) {
  ArgSpec argument;
  argument.name = argument.target = name;
  argument.fallback = fallback;
  return argument;
}

Signature derived_signature(const OpDef& def) {
  Signature signature;
  for (const ArgDef& input : def.inputs) {
    signature.arguments.push_back(named_argument(input.name, ""));
  }
  for (const bool has_default : {false, true}) {
    for (const AttrDef& attr : def.attrs) {
      const std::string fallback = default_as_r_code(attr);
      if (fallback.empty() == has_default || is_inferred(def, attr)) continue;
      signature.arguments.push_back(named_argument(attr.name, fallback));
    }
  }
  signature.arguments.push_back(named_argument("name", "NULL"));
  return signature;
}

}  // namespace

const ArgSpec* Signature::find(const std::string& name) const {
  for (const ArgSpec& argument : arguments) {
    if (argument.name == name) return &argument;
  }
  return nullptr;
}

Signature parse_signature(const std::string& text) {
  const size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')') {
    fail(Code::kInternal, "'", text, "' is not a valid signature.");
  }
  Signature signature;
  signature.endpoints = split_at_commas(text.substr(0, open));
  signature.arguments = parse_arg_list(text.substr(open + 1, text.size() - open - 2));
  return signature;
}

std::vector<Signature> signatures_of(const OpDef& def) {
  std::vector<Signature> signatures;
  std::vector<std::string> remaining = def.endpoints;
  for (const std::string& text : def.signatures) {
    signatures.push_back(parse_signature(text));
    for (const std::string& name : signatures.back().endpoints) {
      remaining.erase(std::remove(remaining.begin(), remaining.end(), name), remaining.end());
    }
  }
  if (def.endpoints.empty() && def.signatures.empty()) remaining = {snake_case(def.type)};
  if (remaining.empty()) return signatures;
  signatures.push_back(derived_signature(def));
  signatures.back().endpoints = remaining;
  return signatures;
}

}  // namespace runhooks
