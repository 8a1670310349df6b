// What lives here: Factory, which makes things from Args by the name of their type; ArgSpec: what such an argument may be.
// Who may use it: hooks, optimizers, datasets, columns, heads, models, the bindings.
// What it must not know: what is made, R.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/args.h"

namespace runhooks {

// What one argument of a thing may be; from a line such as
// "beta1 = 0.9: number in [0, 1]. How fast the mean of the gradients forgets."
// An argument without words is the core's own: no constructor has it. NULL is good where it is the
// default, or where the kind says "or NULL".
struct ArgSpec {
  std::string name;
  std::string fallback;  // its default in R's words; empty: it must be given
  bool is_null_good = false;
  std::string kind;   // what a value must be: "number" (or a tensor), "flag", "tensors", ...
  std::string range;  // "[0, 1]", "(0, Inf)" or empty
  std::string doc;
  double low = 0, high = 0;
  bool is_open_below = false, is_open_above = false;
};
ArgSpec parse_arg_spec(const std::string& line);
// Throws where an argument is not one of `specs`, is missing, or is of another kind or out of its
// range. For a "number", tensors, variables and functions stand for values that are not known yet.
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
    check(what, type, args);
    return find(what, type).make(args);
  }
  void check(const char* what, const std::string& type, const Args& args) const {
    const Entry& entry = find(what, type);
    if (!entry.arguments.empty()) check_arguments(entry.arguments, args);
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace runhooks
