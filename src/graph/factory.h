// Factory, which makes things from Args by the name of their type, and the check of such arguments.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/arg_spec.h"
#include "graph/args.h"

namespace runhooks {

// Throws where an argument is not one of `specs`, is missing, or is of another kind or out of its
// range. For a "number", tensors, variables and functions stand for values that are not known yet.
void check_arguments(const std::vector<ArgSpec>& specs, const Args& args);
// What a value of the argument must be: "a whole number", "one of "sum", "mean"".
std::string wanted_words(const ArgSpec& spec);
// The arguments that `specs` know, without the others.
Args own_arguments(const std::vector<ArgSpec>& specs, const Args& args);

// Things made from Args by the name of their type, each registered in its own file.
template <typename T>
class Factory {
 public:
  using Make = std::shared_ptr<T> (*)(const Args&);
  class Entry {
   public:
    std::string type;
    Make make;
    // How scripts call it ("train.AdamOptimizer") and with what; empty where R has its constructor.
    std::string endpoint;
    std::vector<std::string> lines;
    std::string summary;
    // Read from the lines when they are asked for first: most loads of the library ask for few.
    const std::vector<ArgSpec>& arguments() const {
      if (arguments_.empty()) {
        for (const std::string& line : lines) arguments_.push_back(parse_arg_spec(line));
      }
      return arguments_;
    }

   private:
    mutable std::vector<ArgSpec> arguments_;
  };

  static Factory& instance() {
    static auto* factory = new Factory;
    return *factory;
  }
  bool add(const char* type,
           Make make,
           const char* endpoint = "",
           std::vector<std::string> lines = {},
           const char* summary = "") {
    Entry entry;
    entry.type = type;
    entry.make = make;
    entry.endpoint = endpoint;
    entry.lines = std::move(lines);
    entry.summary = summary;
    entries_.push_back(std::move(entry));
    return true;
  }
  // NULL where there is none of this type.
  const Entry* find_or_null(const std::string& type) const {
    for (const Entry& entry : entries_) {
      if (entry.type == type) return &entry;
    }
    return nullptr;
  }
  const Entry& find(const char* what, const std::string& type) const {
    if (const Entry* entry = find_or_null(type)) return *entry;
    std::vector<std::string> known;
    for (const Entry& entry : entries_) known.push_back(entry.type);
    throw Error(Code::kInvalidArgument, str_cat("There is no ", what, " called '", type, "'."),
                {str_cat("Known are: ", str_join(known, ", "), ".")});
  }
  std::shared_ptr<T> make(const char* what, const std::string& type, const Args& args) const {
    check(what, type, args);
    return find(what, type).make(args);
  }
  void check(const char* what, const std::string& type, const Args& args) const {
    const Entry& entry = find(what, type);
    if (!entry.lines.empty()) check_arguments(entry.arguments(), args);
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace runhooks
