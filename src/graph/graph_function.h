// Graph functions: functions that add several operations and that scripts call by name
// (tf.losses.huber_loss). Declares their registry and helpers that read arguments.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/args.h"
#include "graph/indexed_slices.h"
#include "graph/signature.h"

namespace runhooks {

using GraphFunction = Value (*)(Graph&, const Args&);

struct GraphFunctionDef {
  Signature signature;
  std::string summary;
  GraphFunction function;
  // Whether call_graph_function() opens a name scope called `name` for the added operations.
  bool is_scoped;
};

const std::vector<GraphFunctionDef>& all_graph_functions();
bool register_graph_function(const char* signature,
                             const char* summary,
                             GraphFunction function,
                             bool is_scoped);

// Registers a function with a signature below `tf` (see signature.h):
// RUNHOOKS_REGISTER_FUNCTION("nn.top_k(input, k = 1, sorted = TRUE, name = NULL)",
//                            "The k largest elements along the last dimension.", call_top_k).
#define RUNHOOKS_REGISTER_FUNCTION(signature, summary, ...)                               \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(function_registered_, __COUNTER__) = \
      ::runhooks::register_graph_function(signature, summary, __VA_ARGS__, false)
// The same for a function that does not read the argument `name`. Its operations are added in a
// name scope with this name.
#define RUNHOOKS_REGISTER_SCOPED_FUNCTION(signature, summary, ...)                        \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(function_registered_, __COUNTER__) = \
      ::runhooks::register_graph_function(signature, summary, __VA_ARGS__, true)

// Calls a function for a script. `specified` names the arguments that the script has passed; throws
// if the function does not read one of them.
Value call_graph_function(const GraphFunctionDef& def,
                          Graph& graph,
                          const Args& args,
                          const std::vector<std::string>& specified);

// Converts an argument to a tensor. Tensors are unchanged, and variables are read. Numbers become a
// constant of type `dtype`; if that is kInvalid, of bool, int32 or float32. The elements of a list
// are stacked. Throws if the argument is missing.
Output tensor_argument(Graph& graph,
                       const Args& args,
                       const std::string& name,
                       DType dtype = DType::kInvalid);
// Like tensor_argument(), but keeps IndexedSlices (a sparse gradient) instead of converting them.
Gradient gradient_argument(Graph& graph, const Args& args, const std::string& name);
// Converts a value to a gradient: IndexedSlices unchanged, other values as a tensor, NULL as no
// gradient.
Gradient gradient_of_value(Graph& graph, const Value& value, const std::string& name);
// Returns the value of a variable in this graph. In a function, a resource variable is read at the
// point of use, because the function may have modified it.
Output variable_value(Graph& graph, const Variable& variable);
// Converts a value to a tensor like tensor_argument(); `name` is the argument's name in messages.
Output tensor_of_value(Graph& graph,
                       const Value& value,
                       const std::string& name,
                       DType dtype = DType::kInvalid);
// Like tensor_argument(), but returns an invalid Output if the argument is missing.
Output tensor_argument_or_none(Graph& graph,
                               const Args& args,
                               const std::string& name,
                               DType dtype = DType::kInvalid);
// Whether the value contains a tensor or variable.
bool has_tensor(const Value& value);
// Converts a list of dimensions to a shape. Dimensions that are tensors are unknown.
Shape known_shape(const Value& value);
// Reads an argument that names a data type ("float32"); returns `otherwise` if it is missing.
DType dtype_argument(const Args& args, const std::string& name, DType otherwise);
// Reads an argument of one or several integers; returns an empty vector if it is missing.
std::vector<int64_t> whole_numbers(const Args& args, const std::string& name);
// Reads an argument as a list: a single value is a list of one, a missing argument is empty.
ValueList values_argument(const Args& args, const std::string& name);

// Convert the results of a function to a list, or to a named list.
Value value_list(const std::vector<Output>& outputs);
Value value_record(const std::vector<std::pair<std::string, Output>>& outputs);

}  // namespace runhooks
