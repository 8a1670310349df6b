// GraphClosure: an R function that an operation of a graph calls, or another R object that the
// graph needs.
#pragma once

#include <memory>
#include <vector>

#include "graph/graph.h"
#include "r/values/r_function.h"

namespace runhooks {
namespace r {

// The function is preserved while C++ (a loop, a monitored session) owns the graph. Afterwards the
// R object of the graph owns it, so that R's collector can find a cycle of function and graph. The
// graph of an element function (ElementGraph) always has an R object, which protects its functions
// and, through them, dataset handles.
class GraphClosure : public ObjectOwner {
 public:
  GraphClosure(Graph& graph, SEXP function);
  ~GraphClosure() override;
  GraphClosure(const GraphClosure&) = delete;
  GraphClosure& operator=(const GraphClosure&) = delete;

  SEXP get() const override;

 private:
  friend void release_closures();
  bool transfer_if_unowned();

  // The graph. For functions in branches and loop bodies, the outermost graph.
  std::weak_ptr<Graph> graph_;
  // The "cell" is an external pointer whose protected slot contains the function.
  Preserved weak_;  // a weak reference to the cell
  Preserved root_;  // the cell; empty after the transfer
};

// Makes an R function that lives as long as the graph.
RFunctionPtr function_of_graph(Graph& graph, SEXP function);
void transfer_to(Graph& graph, const NewFunctions& functions);

// Preserves an object, such as a dataset that the graph reads, as long as the graph lives.
void preserve_with_graph(Graph& graph, SEXP object);

// Transfers the functions of all graphs that no C++ object owns to the R objects of these graphs.
void release_closures();

// --- r/graph/graph.cpp

// Whether the graph has a live R object.
bool has_object(const Graph& graph);
// Lets the external pointer in the R object of the graph protect `object`. The graph must have an
// R object.
void attach_to_graph(Graph& graph, SEXP object);
// Returns the number of sessions of the graph that R owns. Each of them shares ownership of the
// graph.
int& r_sessions_of(const Graph& graph);
std::vector<std::unique_ptr<GraphClosure>>& closures_of(Graph& graph);

}  // namespace r
}  // namespace runhooks
