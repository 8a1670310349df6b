#include "graph/args.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/number_text.h"
#include "graph/variable.h"

namespace runhooks {

namespace {

void append_content(const Value& value, std::string& out);

void append_content(const Args& args, std::string& out) {
  out += '{';
  for (const auto& item : args.items()) {
    if (item.second.is_null()) continue;  // NULL equals a missing argument
    out += item.first + '=';
    append_content(item.second, out);
    out += ';';
  }
  out += '}';
}

std::string exact_text(double x) { return format_text("%.17g", x); }

std::string address_text(const void* x) { return format_text("%p", const_cast<void*>(x)); }

void append_text(const std::string& text, std::string& out) {
  out += str_cat(static_cast<unsigned long>(text.size()), ':', text);
}

// Appends a text that is equal for equal values. Objects that are not plain data are compared by
// address. Strings are preceded by their length, so that their content is not ambiguous.
void append_content(const Value& value, std::string& out) {
  double number;
  if (value_number(value, &number)) {
    out += exact_text(number);
  } else if (const auto* flag = value.get_if<bool>()) {
    out += *flag ? 'T' : 'F';
  } else if (const auto* text = value.get_if<std::string>()) {
    append_text(*text, out);
  } else if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    out += '[';
    for (const Value& item : **list) {
      append_content(item, out);
      out += ',';
    }
    out += ']';
  } else if (const auto* args = value.get_if<std::shared_ptr<Args>>()) {
    append_content(**args, out);
  } else if (const auto* function = value.get_if<std::shared_ptr<Callable>>()) {
    out += address_text((*function)->identity());
  } else if (const auto* output = value.get_if<Output>()) {
    out += str_cat(address_text(output->op), ':', output->index);
  } else if (const auto* operation = value.get_if<Operation*>()) {
    out += address_text(*operation);
  } else if (const auto* variable = value.get_if<std::shared_ptr<Variable>>()) {
    out += address_text(variable->get());
  } else if (const auto* object = value.get_if<std::shared_ptr<CoreObject>>()) {
    out += address_text(object->get());
  } else if (const auto* tensor = value.get_if<Tensor>()) {
    out += str_cat(dtype_name(tensor->dtype()), tensor->shape());
    for (int64_t i = 0; i < tensor->num_elements(); ++i) {
      if (tensor->dtype() == DType::kString) {
        append_text(std::string(tensor->string_at(i)), out);
      } else {
        out += ',' + exact_text(tensor->number_at(i));
      }
    }
  }
}

}  // namespace

std::string canonical_text(const Args& args) {
  std::string out;
  append_content(args, out);
  return out;
}

const char* Value::kind() const {
  static const char* const kKinds[] = {"NULL",     "a logical",  "a whole number", "a number",
                                       "a string", "a tensor",   "an operation",   "a variable",
                                       "an array", "a function", "a list",         "a named list"};
  if (const auto* object = get_if<std::shared_ptr<CoreObject>>()) return (*object)->kind();
  return kKinds[data_.index()];
}

bool value_number(const Value& value, double* number) {
  if (const auto* integer = value.get_if<int64_t>()) {
    *number = static_cast<double>(*integer);
  } else if (const auto* real = value.get_if<double>()) {
    *number = *real;
  } else {
    return false;
  }
  return true;
}

void Args::set(const std::string& name, Value value) {
  for (auto& item : items_) {
    if (item.first == name) {
      item.second = std::move(value);
      return;
    }
  }
  items_.emplace_back(name, std::move(value));
  is_read_.push_back(false);
}

const Value* Args::find(const std::string& name) const {
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].first != name) continue;
    is_read_[i] = true;
    return items_[i].second.is_null() ? nullptr : &items_[i].second;
  }
  return nullptr;
}

std::vector<std::string> Args::unread() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (!is_read_[i]) names.push_back(items_[i].first);
  }
  return names;
}

std::string Args::label(const std::string& name) const {
  return str_cat('`', name, owner_.empty() ? "`" : "` of ", owner_);
}

const Value& Args::required(const std::string& name) const {
  const Value* value = find(name);
  if (!value) invalid_argument(label(name), " is missing.");
  return *value;
}

void Args::throw_wrong_kind(const std::string& name,
                            const char* expected,
                            const Value& value) const {
  invalid_argument(label(name), " must be ", expected, ", not ", value.kind(), ".");
}

double Args::number(const std::string& name) const {
  double x;
  if (!value_number(required(name), &x)) throw_wrong_kind(name, "a number", required(name));
  return x;
}

double Args::number(const std::string& name, double otherwise) const {
  return has(name) ? number(name) : otherwise;
}

int64_t Args::checked_integer(const std::string& name, double x) const {
  if (!(x == std::floor(x))) {
    invalid_argument(label(name), " must be whole, not ", x, ".");
  }
  constexpr double kMaxExactInteger = 9007199254740992;  // doubles are exact up to 2^53
  if (!(std::abs(x) <= kMaxExactInteger)) {
    invalid_argument(label(name), " must be at most 2^53 in absolute value, not ", x, ".");
  }
  return static_cast<int64_t>(x);
}

int64_t Args::integer(const std::string& name) const {
  const Value& value = required(name);
  if (const auto* exact = value.get_if<int64_t>()) return *exact;
  return checked_integer(name, number(name));
}

int64_t Args::integer(const std::string& name, int64_t otherwise) const {
  return has(name) ? integer(name) : otherwise;
}

bool Args::flag(const std::string& name, bool otherwise) const {
  const Value* value = find(name);
  if (!value) return otherwise;
  if (!value->get_if<bool>()) throw_wrong_kind(name, "TRUE or FALSE", *value);
  return *value->get_if<bool>();
}

std::string Args::text(const std::string& name) const {
  const Value& value = required(name);
  if (!value.get_if<std::string>()) throw_wrong_kind(name, "a string", value);
  return *value.get_if<std::string>();
}

std::string Args::text(const std::string& name, const std::string& otherwise) const {
  return has(name) ? text(name) : otherwise;
}

std::vector<std::string> Args::texts(const std::string& name) const {
  const Value& value = required(name);
  if (const auto* one = value.get_if<std::string>()) return {*one};
  std::vector<std::string> all;
  for (const Value& item : list(name)) {
    if (!item.get_if<std::string>()) throw_wrong_kind(name, "strings", item);
    all.push_back(*item.get_if<std::string>());
  }
  return all;
}

std::vector<double> Args::numbers(const std::string& name) const {
  double x;
  if (value_number(required(name), &x)) return {x};
  std::vector<double> all;
  for (const Value& item : list(name)) {
    if (!value_number(item, &x)) throw_wrong_kind(name, "numbers", item);
    all.push_back(x);
  }
  return all;
}

std::vector<int64_t> Args::integers(const std::string& name) const {
  std::vector<int64_t> all;
  for (const double x : numbers(name)) all.push_back(checked_integer(name, x));
  return all;
}

const ValueList& Args::list(const std::string& name) const {
  const Value& value = required(name);
  if (!value.get_if<std::shared_ptr<ValueList>>()) throw_wrong_kind(name, "a list", value);
  return **value.get_if<std::shared_ptr<ValueList>>();
}

const Args& Args::args(const std::string& name) const {
  const Value& value = required(name);
  if (!value.get_if<std::shared_ptr<Args>>()) throw_wrong_kind(name, "a named list", value);
  return **value.get_if<std::shared_ptr<Args>>();
}

std::shared_ptr<Callable> Args::callable(const std::string& name) const {
  const Value* value = find(name);
  if (!value) return nullptr;
  if (!value->get_if<std::shared_ptr<Callable>>()) throw_wrong_kind(name, "a function", *value);
  return *value->get_if<std::shared_ptr<Callable>>();
}

}  // namespace runhooks
