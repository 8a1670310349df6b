// Registry of functions that scripts call by name (tf.losses.huber_loss) to add several operations
// to a graph, and readers of their arguments.
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
  // call_graph_function() opens a name scope with the argument `name`.
  bool is_scoped;
};

const std::vector<GraphFunctionDef>& all_graph_functions();
bool register_graph_function(const char* signature,
                             const char* summary,
                             GraphFunction function,
                             bool is_scoped);

// Registers a function under `tf` with its signature, see signature.h:
// RUNHOOKS_REGISTER_FUNCTION("nn.top_k(input, k = 1, sorted = TRUE, name = NULL)",
//                            "The k largest elements along the last dimension.", call_top_k).
#define RUNHOOKS_REGISTER_FUNCTION(signature, summary, ...)                               \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(function_registered_, __COUNTER__) = \
      ::runhooks::register_graph_function(signature, summary, __VA_ARGS__, false)
// For functions that do not read the argument `name`: the caller opens the name scope.
#define RUNHOOKS_REGISTER_SCOPED_FUNCTION(signature, summary, ...)                        \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(function_registered_, __COUNTER__) = \
      ::runhooks::register_graph_function(signature, summary, __VA_ARGS__, true)

// Calls a function on behalf of a script. `given` are the names of arguments that the script has
// set; throws kUnimplemented if the function does not read one of them.
Value call_graph_function(const GraphFunctionDef& def,
                          Graph& graph,
                          const Args& args,
                          const std::vector<std::string>& given);

// Converts an argument to a tensor. Tensors and variables keep their type. Numbers become a
// constant of type `dtype`, or of their natural type if that is kInvalid (float32 for R doubles).
// The elements of a list are stacked. Throws if the argument is missing.
Output tensor_argument(Graph& graph,
                       const Args& args,
                       const std::string& name,
                       DType dtype = DType::kInvalid);
// Like tensor_argument(), but does not convert IndexedSlices to a tensor.
Gradient gradient_argument(Graph& graph, const Args& args, const std::string& name);
// NULL becomes no gradient.
Gradient gradient_of_value(Graph& graph, const Value& value, const std::string& name);
// The value of a variable in this graph. A function reads a resource variable again at each use,
// since it may have changed the variable.
Output variable_value(Graph& graph, const Variable& variable);
Output tensor_of_value(Graph& graph,
                       const Value& value,
                       const std::string& name,
                       DType dtype = DType::kInvalid);
// Like tensor_argument(), but returns an invalid Output if the argument is missing.
Output tensor_argument_or_none(Graph& graph,
                               const Args& args,
                               const std::string& name,
                               DType dtype = DType::kInvalid);
// Whether the value is or contains a tensor or variable, and so is not plain data.
bool has_tensor(const Value& value);
// A static shape from a list of dimensions. Tensors in it become unknown dimensions.
Shape known_shape(const Value& value);
// Reads the name of a type ("float32"); `otherwise` if the argument is missing.
DType dtype_argument(const Args& args, const std::string& name, DType otherwise);
// Reads one number or several; empty if the argument is missing.
std::vector<int64_t> whole_numbers(const Args& args, const std::string& name);
// Wraps a single value in a list; empty if the argument is missing.
ValueList values_argument(const Args& args, const std::string& name);

// Return values for functions with several results: a list and a named list.
Value value_list(const std::vector<Output>& outputs);
Value value_record(const std::vector<std::pair<std::string, Output>>& outputs);

}  // namespace runhooks
