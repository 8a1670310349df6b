// Functions that add several operations and that scripts call by name (tf.losses.huber_loss): the
// registry and helpers to read arguments.
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
  // Whether `name` is the name scope of the added operations, which the caller opens.
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
// The same for a function that does not use `name`.
#define RUNHOOKS_REGISTER_SCOPED_FUNCTION(signature, summary, ...)                        \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(function_registered_, __COUNTER__) = \
      ::runhooks::register_graph_function(signature, summary, __VA_ARGS__, true)

// Calls a function for a script. `given` are the names of the arguments that were specified; it is
// an error if the function does not read one of them.
Value call_graph_function(const GraphFunctionDef& def,
                          Graph& graph,
                          const Args& args,
                          const std::vector<std::string>& given);

// An argument as a tensor: tensors and variables unchanged, numbers as a constant of type `dtype`
// (kInvalid: their natural type; plain numbers are float32), lists as stacked elements. Throws if
// missing.
Output tensor_argument(Graph& graph,
                       const Args& args,
                       const std::string& name,
                       DType dtype = DType::kInvalid);
// The same, but keeps IndexedSlices. Without a value for NULL.
Gradient gradient_argument(Graph& graph, const Args& args, const std::string& name);
// NULL becomes no gradient.
Gradient gradient_of_value(Graph& graph, const Value& value, const std::string& name);
// The value of a variable in this graph. In a function, a resource variable is read at the point of
// use, because the function may have modified it.
Output variable_value(Graph& graph, const Variable& variable);
Output tensor_of_value(Graph& graph,
                       const Value& value,
                       const std::string& name,
                       DType dtype = DType::kInvalid);
// The same, but an invalid Output if the argument is missing.
Output tensor_argument_or_none(Graph& graph,
                               const Args& args,
                               const std::string& name,
                               DType dtype = DType::kInvalid);
// Whether the value contains a tensor or variable.
bool has_tensor(const Value& value);
// The known dimensions of a shape that may contain tensors.
Shape known_shape(const Value& value);
// A data type by name ("float32"), or `otherwise` if missing.
DType dtype_argument(const Args& args, const std::string& name, DType otherwise);
// One or several integers; empty if missing.
std::vector<int64_t> whole_numbers(const Args& args, const std::string& name);
// A list of values, or a single value as a list; empty if missing.
ValueList values_argument(const Args& args, const std::string& name);

// The results of a function with several results.
Value value_list(const std::vector<Output>& outputs);
Value value_record(const std::vector<std::pair<std::string, Output>>& outputs);

}  // namespace runhooks
