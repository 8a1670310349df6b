// Handles of graphs, tensors, operations and variables, and functions that add operations from R.
#pragma once

#include <memory>
#include <vector>

#include "columns/feature_column.h"
#include "graph/op_registry.h"
#include "graph/variable.h"
#include "r/values/guarded_entry.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

// --- r/graph/graph.cpp: handles. An object has a single handle as long as R refers to it.

SEXP graph_handle(const std::shared_ptr<Graph>& graph);
std::shared_ptr<Graph> graph_of(SEXP handle);
SEXP tensor_handle(const Output& output);
SEXP operation_handle(Operation* op);
SEXP variable_handle(const VariablePtr& variable);
bool is_tensor(SEXP x);
bool is_operation(SEXP x);
bool is_variable(SEXP x);
Output tensor_of(SEXP x);
// Lists of tensor handles; `label` describes the list in messages.
SEXP tensors_to_r(const std::vector<Output>& outputs);
std::vector<Output> tensors_from_r(SEXP list, const char* label);
Operation* operation_of(SEXP x);
VariablePtr variable_of(SEXP x);

// Pushes a graph on the stack of default graphs (tf.get_default_graph()) while in scope.
class DefaultGraph {
 public:
  explicit DefaultGraph(std::shared_ptr<Graph> graph);
  ~DefaultGraph();
  DefaultGraph(const DefaultGraph&) = delete;
  DefaultGraph& operator=(const DefaultGraph&) = delete;

 private:
  size_t outer_protected_size_;
};
std::shared_ptr<Graph> default_graph();
// Returns the graph to which an operation on a tensor of `graph` is added: the function graph that
// is under construction inside `graph`, or `graph`.
std::shared_ptr<Graph> graph_for(Graph& graph);

// --- r/graph/optimizer.cpp: R functions of variables, and gradients

// Makes a regularizer or constraint from an R function; empty for NULL. The R function returns a
// tensor, or NULL if there is no loss.
VariableTransform variable_transform_from_r(Graph& graph, SEXP x);
Initializer initializer_from_r(Graph& graph, SEXP x);
// R represents sparse gradients by lists of class tensorflow.indexed_slices.
bool is_indexed_slices(SEXP x);
SEXP gradient_to_r(const Gradient& gradient);
Gradient gradient_from_r(SEXP x);

// --- r/graph/graph.cpp: operations

// Adds an op. `inputs` are tensors, variables or R values, `attrs` is a named list.
SEXP create_op_from_r(const OpDef& def, SEXP inputs, SEXP attrs, SEXP name);

// --- r/graph/columns.cpp

Feature feature_from_r(SEXP feature);
SEXP feature_to_r(const Feature& feature);
// Returns one list for each feature that a column or a head reads.
SEXP reads_to_r(const std::vector<FeatureRead>& reads);

}  // namespace r
}  // namespace runhooks
