// Args and Value: named arguments of hooks, optimizers, columns, heads and estimators. They are
// plain data that the embedding language can create, print and store, and may contain callable
// functions.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

class Args;
class Value;

class Callable {
 public:
  virtual ~Callable() = default;
  virtual Value call(const std::vector<Value>& arguments) = 0;
  // Returns the same address for two handles of the same function.
  virtual const void* identity() const { return this; }
};

// An object of the core that scripts refer to by a handle, such as a dataset.
class CoreObject {
 public:
  virtual ~CoreObject() = default;
  // Names the kind of object in messages: "a dataset". An argument that is declared as "dataset"
  // accepts only objects of this kind.
  virtual const char* kind() const = 0;
};

using ValueList = std::vector<Value>;

class Value {
 public:
  using Variant = std::variant<std::monostate,
                               bool,
                               int64_t,
                               double,
                               std::string,
                               Output,
                               Operation*,
                               std::shared_ptr<Variable>,
                               Tensor,
                               std::shared_ptr<Callable>,
                               std::shared_ptr<ValueList>,
                               std::shared_ptr<Args>,
                               std::shared_ptr<CoreObject>>;
  Value() = default;
  Value(Variant data) : data_(std::move(data)) {}  // NOLINT
  template <typename T>
  static Value of(T x) {
    return Value(Variant(std::move(x)));
  }
  // Adds the operation to its graph and returns its first output as a value.
  static Value of(OpBuilder op) { return of(static_cast<Output>(op)); }

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&data_);
  }
  const Variant& data() const { return data_; }
  // Describes the kind of value in messages: "NULL", "a number", "a string", ...
  const char* kind() const;

 private:
  Variant data_;
};

// Named arguments in order. Reading a missing argument or one of the wrong kind throws an error
// that names it.
class Args {
 public:
  Args() = default;
  explicit Args(std::string owner) : owner_(std::move(owner)) {}
  // The function that the arguments belong to, for messages: "hook_stop_at_step()".
  const std::string& owner() const { return owner_; }
  void set_owner(std::string owner) { owner_ = std::move(owner); }
  // Names an argument in a message: "`num_steps` of hook_stop_at_step()", or "`num_steps`" without
  // an owner.
  std::string label(const std::string& name) const;

  void set(const std::string& name, Value value);
  const std::vector<std::pair<std::string, Value>>& items() const { return items_; }
  // Returns NULL if the argument is missing or its value is NULL. This function and all functions
  // below mark the argument as read.
  const Value* find(const std::string& name) const;
  // Returns the names of the arguments that no function has read, for example misspelled names.
  std::vector<std::string> unread() const;
  bool has(const std::string& name) const { return find(name) != nullptr; }

  double number(const std::string& name) const;
  double number(const std::string& name, double otherwise) const;
  // Throws unless the value is an integer that a double represents exactly (at most 2^53).
  int64_t integer(const std::string& name) const;
  int64_t integer(const std::string& name, int64_t otherwise) const;
  bool flag(const std::string& name, bool otherwise) const;
  std::string text(const std::string& name) const;
  std::string text(const std::string& name, const std::string& otherwise) const;
  std::vector<std::string> texts(const std::string& name) const;
  std::vector<int64_t> integers(const std::string& name) const;
  // Unlike NULL, an empty list is not a missing argument.
  std::vector<double> numbers(const std::string& name) const;
  const ValueList& list(const std::string& name) const;
  const Args& args(const std::string& name) const;
  std::shared_ptr<Callable> callable(const std::string& name) const;  // NULL if missing
  // Throws unless the value is a T; `kind` is the expected kind in the message.
  template <typename T>
  std::shared_ptr<T> object(const std::string& name, const char* kind) const {
    const auto* object = required(name).template get_if<std::shared_ptr<CoreObject>>();
    std::shared_ptr<T> typed = object ? std::dynamic_pointer_cast<T>(*object) : nullptr;
    if (!typed) throw_wrong_kind(name, kind, required(name));
    return typed;
  }

 private:
  const Value& required(const std::string& name) const;
  int64_t checked_integer(const std::string& name, double x) const;
  [[noreturn]] void throw_wrong_kind(const std::string& name,
                                     const char* expected,
                                     const Value& value) const;

  std::string owner_;
  std::vector<std::pair<std::string, Value>> items_;
  mutable std::vector<bool> is_read_;  // for each item
};

// Serializes the arguments, so that equal arguments have equal texts. Functions are compared by
// identity.
std::string canonical_text(const Args& args);

// Stores the number of a numeric Value. Returns FALSE for other values.
bool value_number(const Value& value, double* number);

}  // namespace runhooks
