// What lives here: Args and Value, the named arguments from which hooks, optimizers, columns, heads and estimators are
// made: plain data that the embedding language can build, print and store, and functions of it that
// the core may call.
// Who may use it: every layer above graph.
// What it must not know: what any argument means, R.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

class Args;
class Value;

// A function of the embedding language.
class Callable {
 public:
  virtual ~Callable() = default;
  virtual Value call(const std::vector<Value>& arguments) = 0;
  // Equal where two handles call one function.
  virtual const void* identity() const { return this; }
};

// What the core has made and scripts hold by a handle, such as a dataset.
class Made {
 public:
  virtual ~Made() = default;
  // "a dataset", for messages; an argument of the kind "dataset" must be one.
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
                               std::shared_ptr<Made>>;
  Value() = default;
  Value(Variant data) : data_(std::move(data)) {}  // NOLINT
  template <typename T>
  static Value of(T x) {
    return Value(Variant(std::move(x)));
  }

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&data_);
  }
  const Variant& data() const { return data_; }
  // "NULL", "a number", "a string", ... for messages.
  const char* kind() const;

 private:
  Variant data_;
};

// Arguments by name, in order. Reading one that is missing or of another kind throws an error that
// names it.
class Args {
 public:
  Args() = default;
  explicit Args(std::string owner) : owner_(std::move(owner)) {}
  // Who takes the arguments, for messages: "hook_stop_at_step()".
  const std::string& owner() const { return owner_; }
  void set_owner(std::string owner) { owner_ = std::move(owner); }

  void set(const std::string& name, Value value);
  const std::vector<std::pair<std::string, Value>>& items() const { return items_; }
  // NULL where it is missing or null. Looking at an argument marks it as read, and so do all below.
  const Value* find(const std::string& name) const;
  // The names of the arguments that nobody has looked at.
  std::vector<std::string> unread() const;
  bool has(const std::string& name) const { return find(name) != nullptr; }

  double number(const std::string& name) const;
  double number(const std::string& name, double otherwise) const;
  // Throws for what is not whole, or not exact as a double (beyond 2^53).
  int64_t integer(const std::string& name) const;
  int64_t integer(const std::string& name, int64_t otherwise) const;
  bool flag(const std::string& name, bool otherwise) const;
  std::string text(const std::string& name) const;
  std::string text(const std::string& name, const std::string& otherwise) const;
  std::vector<std::string> texts(const std::string& name) const;
  std::vector<int64_t> integers(const std::string& name) const;
  // A list without elements is there, and empty.
  std::vector<double> numbers(const std::string& name) const;
  const ValueList& list(const std::string& name) const;
  const Args& args(const std::string& name) const;
  std::shared_ptr<Callable> callable(const std::string& name) const;  // NULL where missing
  // Throws where it is no T; `kind` says what is expected.
  template <typename T>
  std::shared_ptr<T> made(const std::string& name, const char* kind) const {
    const auto* object = required(name).template get_if<std::shared_ptr<Made>>();
    std::shared_ptr<T> wanted = object ? std::dynamic_pointer_cast<T>(*object) : nullptr;
    if (!wanted) fail_kind(name, kind, required(name));
    return wanted;
  }

 private:
  const Value& required(const std::string& name) const;
  int64_t whole(const std::string& name, double x) const;
  [[noreturn]] void fail_kind(const std::string& name, const char* wanted, const Value& got) const;

  std::string owner_;
  std::vector<std::pair<std::string, Value>> items_;
  mutable std::vector<bool> is_read_;  // by item
};

// What arguments hold, as a text that is equal where they are; a function counts by its identity.
std::string content_of(const Args& args);

// The number of a Value that is one; FALSE where it is none.
bool value_number(const Value& value, double* number);

// What one argument of a thing may be; from a line such as
// "beta1 = 0.9: number in [0, 1]. How fast the mean of the gradients forgets."
struct ArgSpec {
  std::string name;
  std::string fallback;  // its default in R's words; empty: it must be given
  // "number", "flag", "string", "any": what a plain value must be; else of which kind what is made.
  std::string kind;
  std::string range;  // "[0, 1]", "(0, Inf)" or empty
  std::string doc;
  double low = 0, high = 0;
  bool is_open_below = false, is_open_above = false;
};
ArgSpec parse_arg_spec(const std::string& line);
// Throws where an argument is not one of `specs`, is missing, or is a plain value of another kind
// or out of its range. Tensors, variables and functions stand for values that are not known yet.
void check_arguments(const std::vector<ArgSpec>& specs, const Args& args);

// Things made from Args by the name of their type, each registered in its own file.
template <typename T>
class Factory {
 public:
  using Make = std::shared_ptr<T> (*)(const Args&);
  struct Entry {
    std::string type;
    Make make;
    // How scripts call it ("train.AdamOptimizer") and with what; empty where R has its constructor.
    std::string endpoint;
    std::vector<ArgSpec> arguments;
    std::string summary;
  };

  static Factory& instance() {
    static auto* factory = new Factory;
    return *factory;
  }
  bool add(const char* type,
           Make make,
           const char* endpoint = "",
           std::initializer_list<const char*> arguments = {},
           const char* summary = "") {
    Entry entry{type, make, endpoint, {}, summary};
    for (const char* line : arguments) entry.arguments.push_back(parse_arg_spec(line));
    entries_.push_back(std::move(entry));
    return true;
  }
  const Entry& find(const char* what, const std::string& type) const {
    std::vector<std::string> known;
    for (const Entry& entry : entries_) {
      if (entry.type == type) return entry;
      known.push_back(entry.type);
    }
    throw Error(Code::kInvalidArgument, str_cat("There is no ", what, " called '", type, "'."),
                {str_cat("Known are: ", str_join(known, ", "), ".")});
  }
  std::shared_ptr<T> make(const char* what, const std::string& type, const Args& args) const {
    const Entry& entry = find(what, type);
    if (!entry.arguments.empty()) check_arguments(entry.arguments, args);
    return entry.make(args);
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace runhooks
