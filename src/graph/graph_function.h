// Functions that add several operations to a graph and that scripts call by name (tf.losses.huber_loss):
// their registry, and how they read their arguments.
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
  // Its `name` is the name scope of what it adds, which the caller opens.
  bool is_scoped;
};

const std::vector<GraphFunctionDef>& all_graph_functions();
bool register_graph_function(const char* signature,
                             const char* summary,
                             GraphFunction function,
                             bool is_scoped);

// Registers a function with its signature below `tf`, see signature.h:
// RUNHOOKS_REGISTER_FUNCTION("nn.top_k(input, k = 1, sorted = TRUE, name = NULL)",
//                            "The k largest elements along the last dimension.", call_top_k).
#define RUNHOOKS_REGISTER_FUNCTION(signature, summary, ...)                               \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(function_registered_, __COUNTER__) = \
      ::runhooks::register_graph_function(signature, summary, __VA_ARGS__, false)
// The same for a function that knows nothing of `name`.
#define RUNHOOKS_REGISTER_SCOPED_FUNCTION(signature, summary, ...)                        \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(function_registered_, __COUNTER__) = \
      ::runhooks::register_graph_function(signature, summary, __VA_ARGS__, true)

// Calls a function as scripts do. An argument that it does not read must have been left at its
// default; which ones were not is for the caller to know: `given` are their names.
Value call_graph_function(const GraphFunctionDef& def,
                          Graph& graph,
                          const Args& args,
                          const std::vector<std::string>& given);

// An argument as a tensor of the graph: a tensor or variable as it is, numbers as a constant of
// type `dtype`, or where that is kInvalid of their own (a plain number is float32), a list as its
// elements stacked. Throws where it is missing.
Output tensor_argument(Graph& graph,
                       const Args& args,
                       const std::string& name,
                       DType dtype = DType::kInvalid);
// The same, but IndexedSlices are left such; without a value where it is NULL.
Gradient gradient_argument(Graph& graph, const Args& args, const std::string& name);
Gradient gradient_of_value(Graph& graph, const Value& value, const std::string& name);
// The value of a variable in this graph. In a function a resource variable is read where it is
// used, since the function may have changed it.
Output variable_value(Graph& graph, const Variable& variable);
Output tensor_of_value(Graph& graph,
                       const Value& value,
                       const std::string& name,
                       DType dtype = DType::kInvalid);
// The same, an invalid Output where the argument is missing.
Output tensor_argument_or_none(Graph& graph,
                               const Args& args,
                               const std::string& name,
                               DType dtype = DType::kInvalid);
// Whether there is a tensor or variable in it, so that it is no plain data.
bool has_tensor(const Value& value);
// What is known of a shape in which there are tensors: its numbers.
Shape known_shape(const Value& value);
// A type by its name ("float32"); `otherwise` where it is missing.
DType dtype_argument(const Args& args, const std::string& name, DType otherwise);
// Whole numbers, one or several; empty where missing.
std::vector<int64_t> whole_numbers(const Args& args, const std::string& name);
// A list of values, or one value as a list of one; empty where missing.
ValueList values_argument(const Args& args, const std::string& name);

// What a function of several results gives to scripts.
Value value_list(const std::vector<Output>& outputs);
// The same with names.
Value value_record(const std::vector<std::pair<std::string, Output>>& outputs);

}  // namespace runhooks
