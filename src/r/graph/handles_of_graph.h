// Handles of graphs and of what is in them, and what R adds to a graph.
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

// --- r/graph/graph.cpp: handles of graphs and what is in them; the same thing has the same handle
// as long as R holds it

SEXP graph_handle(const std::shared_ptr<Graph>& graph);
std::shared_ptr<Graph> graph_of(SEXP handle);
SEXP tensor_handle(const Output& output);
SEXP operation_handle(Operation* op);
SEXP variable_handle(const VariablePtr& variable);
bool is_tensor(SEXP x);
bool is_operation(SEXP x);
bool is_variable(SEXP x);
Output tensor_of(SEXP x);
Operation* operation_of(SEXP x);
VariablePtr variable_of(SEXP x);

// The graph that R functions add to (tf.get_default_graph()); a stack.
class DefaultGraph {
 public:
  explicit DefaultGraph(std::shared_ptr<Graph> graph);
  ~DefaultGraph();
  DefaultGraph(const DefaultGraph&) = delete;
  DefaultGraph& operator=(const DefaultGraph&) = delete;

 private:
  size_t outer_floor_;
};
std::shared_ptr<Graph> default_graph();
// Where an operation on a tensor of `graph` goes: into the function that is being made, if any.
std::shared_ptr<Graph> graph_for(Graph& graph);

// --- r/graph/optimizer.cpp: functions of R that variables have, gradients

// NULL is none. What it gives is a tensor, or NULL (no regularization loss).
VariableTransform of_variable_from_r(Graph& graph, SEXP x);
Initializer initializer_from_r(Graph& graph, SEXP x);
// A gradient of rows is a list of class tensorflow.indexed_slices.
bool is_indexed_slices(SEXP x);
SEXP gradient_to_r(const Gradient& gradient);
Gradient gradient_from_r(SEXP x);

// --- r/graph/graph.cpp: operations

// An operation of the registry: `inputs` are tensors, variables or R values, `attrs` a named list.
SEXP create_op_from_r(const OpDef& def, SEXP inputs, SEXP attrs, SEXP name);

// --- r/graph/columns.cpp

// A tensor or a sparse one.
Feature feature_from_r(SEXP feature);
// A list for each feature that a column or a head reads.
SEXP reads_to_r(const std::vector<FeatureRead>& reads);

}  // namespace r
}  // namespace runhooks
