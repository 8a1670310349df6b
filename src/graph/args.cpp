#include "graph/args.h"

#include <cmath>

#include "graph/variable.h"

namespace runhooks {

const char* Value::kind() const {
  static const char* const kKinds[] = {"NULL",     "a logical",  "a whole number", "a number",
                                       "a string", "a tensor",   "an operation",   "a variable",
                                       "an array", "a function", "a list",         "a named list"};
  return kKinds[data_.index()];
}

bool value_number(const Value& value, double* number) {
  if (const auto* whole = value.get_if<int64_t>()) {
    *number = static_cast<double>(*whole);
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
}

const Value* Args::find(const std::string& name) const {
  for (const auto& item : items_) {
    if (item.first == name) return item.second.is_null() ? nullptr : &item.second;
  }
  return nullptr;
}

const Value& Args::required(const std::string& name) const {
  const Value* value = find(name);
  if (!value) invalid_argument("`", name, "` of ", owner_, " is missing.");
  return *value;
}

void Args::fail_kind(const std::string& name, const char* wanted, const Value& got) const {
  invalid_argument("`", name, "` of ", owner_, " must be ", wanted, ", not ", got.kind(), ".");
}

double Args::number(const std::string& name) const {
  double x;
  if (!value_number(required(name), &x)) fail_kind(name, "a number", required(name));
  return x;
}

double Args::number(const std::string& name, double otherwise) const {
  return has(name) ? number(name) : otherwise;
}

int64_t Args::integer(const std::string& name) const {
  const double x = number(name);
  if (x != std::floor(x))
    invalid_argument("`", name, "` of ", owner_, " must be whole, not ", x, ".");
  return static_cast<int64_t>(x);
}

int64_t Args::integer(const std::string& name, int64_t otherwise) const {
  return has(name) ? integer(name) : otherwise;
}

bool Args::flag(const std::string& name, bool otherwise) const {
  const Value* value = find(name);
  if (!value) return otherwise;
  if (!value->get_if<bool>()) fail_kind(name, "TRUE or FALSE", *value);
  return *value->get_if<bool>();
}

std::string Args::text(const std::string& name) const {
  const Value& value = required(name);
  if (!value.get_if<std::string>()) fail_kind(name, "a string", value);
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
    if (!item.get_if<std::string>()) fail_kind(name, "strings", item);
    all.push_back(*item.get_if<std::string>());
  }
  return all;
}

std::vector<double> Args::numbers(const std::string& name) const {
  double x;
  if (value_number(required(name), &x)) return {x};
  std::vector<double> all;
  for (const Value& item : list(name)) {
    if (!value_number(item, &x)) fail_kind(name, "numbers", item);
    all.push_back(x);
  }
  return all;
}

std::vector<int64_t> Args::integers(const std::string& name) const {
  std::vector<int64_t> all;
  for (const double x : numbers(name)) all.push_back(static_cast<int64_t>(x));
  return all;
}

const ValueList& Args::list(const std::string& name) const {
  const Value& value = required(name);
  if (!value.get_if<std::shared_ptr<ValueList>>()) fail_kind(name, "a list", value);
  return **value.get_if<std::shared_ptr<ValueList>>();
}

const Args& Args::args(const std::string& name) const {
  const Value& value = required(name);
  if (!value.get_if<std::shared_ptr<Args>>()) fail_kind(name, "a named list", value);
  return **value.get_if<std::shared_ptr<Args>>();
}

std::shared_ptr<Callable> Args::callable(const std::string& name) const {
  const Value* value = find(name);
  if (!value) return nullptr;
  if (!value->get_if<std::shared_ptr<Callable>>()) fail_kind(name, "a function", *value);
  return *value->get_if<std::shared_ptr<Callable>>();
}

}  // namespace runhooks
