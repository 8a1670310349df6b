// What lives here: functions that add several operations to a graph and that scripts call by name (tf.losses.huber_loss):
// their registry, and how they read their arguments.
// Who may use it: ops, training, estimators register; the bindings look up.
// What it must not know: any particular function, R.
#pragma once

#include <string>
#include <vector>

#include "graph/args.h"

namespace runhooks {

using GraphFunction = Value (*)(Graph&, const Args&);

// Throws not_found for a name that nobody registered.
GraphFunction find_graph_function(const std::string& name);
bool register_graph_function(const char* name, GraphFunction function);

// Registers a function under its name below `tf`: RUNHOOKS_REGISTER_FUNCTION("nn.moments",
// moments).
#define RUNHOOKS_REGISTER_FUNCTION(name, function)                                     \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(function_registered_, __LINE__) = \
      ::runhooks::register_graph_function(name, function)

// An argument as a tensor of the graph: a tensor or variable as it is, numbers as a constant of
// type `dtype`, or where that is kInvalid of their own (a plain number is float32). Throws where it
// is missing.
Output tensor_argument(Graph& graph,
                       const Args& args,
                       const std::string& name,
                       DType dtype = DType::kInvalid);
Output tensor_of_value(Graph& graph,
                       const Value& value,
                       const std::string& name,
                       DType dtype = DType::kInvalid);
// The same, an invalid Output where the argument is missing.
Output tensor_argument_or_none(Graph& graph,
                               const Args& args,
                               const std::string& name,
                               DType dtype = DType::kInvalid);
// A type by its name ("float32"); `otherwise` where it is missing.
DType dtype_argument(const Args& args, const std::string& name, DType otherwise);
// Whole numbers, one or several; empty where missing.
std::vector<int64_t> whole_numbers(const Args& args, const std::string& name);
// A list of values, or one value as a list of one; empty where missing.
ValueList values_argument(const Args& args, const std::string& name);

// What a function of several results gives to scripts.
Value value_list(const std::vector<Output>& outputs);

}  // namespace runhooks
