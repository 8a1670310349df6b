// GraphClosure: an R function that an operation of a graph calls, and other objects a graph needs.
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

  // the outermost graph for functions of branches and loop bodies
  std::weak_ptr<Graph> graph_;
  Preserved weak_;  // a weak reference to the cell that has the function
  Preserved root_;  // the cell, or empty after the transfer
};

RFunctionPtr function_of_graph(Graph& graph, SEXP function);
void transfer_to(Graph& graph, const NewFunctions& functions);

// Keeps an object alive as long as the graph, such as a dataset that it reads.
void preserve_with_graph(Graph& graph, SEXP object);

// Transfers functions of graphs that only R owns to the R objects of these graphs.
void release_closures();

// --- r/graph/graph.cpp

bool has_object(const Graph& graph);
// Requires an R object of the graph, whose external pointer then protects `object`.
void attach_to_graph(Graph& graph, SEXP object);
// Number of sessions of the graph that R owns; each of them shares ownership of the graph.
int& r_sessions_of(const Graph& graph);
std::vector<std::unique_ptr<GraphClosure>>& closures_of(Graph& graph);

}  // namespace r
}  // namespace runhooks
