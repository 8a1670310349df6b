// Factory: creates objects from Args by type name. Also checks arguments against their
// specifications.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/arg_spec.h"
#include "graph/args.h"

namespace runhooks {

// Throws if an argument is unknown, missing, of the wrong kind or out of range. A "number" may also
// be a tensor, a variable or a function, whose value is known only when the graph runs.
void check_arguments(const std::vector<ArgSpec>& specs, const Args& args);
// Describes the expected value in messages: "a whole number", "one of "sum", "mean"".
std::string describe_expected(const ArgSpec& spec);
// Returns the subset of `args` that `specs` declares.
Args declared_arguments(const std::vector<ArgSpec>& specs, const Args& args);

// Creates objects by type name. Each type registers itself in its own file.
template <typename T>
class Factory {
 public:
  using Make = std::shared_ptr<T> (*)(const Args&);
  class Entry {
   public:
    std::string type;
    Make make;
    // Names for scripts ("train.AdamOptimizer"); empty if R has its own constructor.
    std::string endpoint;
    std::vector<std::string> lines;  // argument specs, see parse_arg_spec()
    std::string summary;
    // Parses the lines on first use, because most processes use few types.
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
  // Returns NULL if the type is not registered.
  const Entry* find_or_null(const std::string& type) const {
    for (const Entry& entry : entries_) {
      if (entry.type == type) return &entry;
    }
    return nullptr;
  }
  const Entry& find(const char* category, const std::string& type) const {
    if (const Entry* entry = find_or_null(type)) return *entry;
    std::vector<std::string> known;
    for (const Entry& entry : entries_) known.push_back(entry.type);
    throw Error(Code::kInvalidArgument, str_cat("There is no ", category, " called '", type, "'."),
                {str_cat("Valid names: ", str_join(known, ", "), ".")});
  }
  std::shared_ptr<T> make(const char* category, const std::string& type, const Args& args) const {
    check(category, type, args);
    return find(category, type).make(args);
  }
  void check(const char* category, const std::string& type, const Args& args) const {
    const Entry& entry = find(category, type);
    if (!entry.lines.empty()) check_arguments(entry.arguments(), args);
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace runhooks
