// GraphClosure, a function of R that an operation of a graph calls, and what else a graph needs.
#pragma once

#include <memory>
#include <vector>

#include "graph/graph.h"
#include "r/values/r_function.h"

namespace runhooks {
namespace r {

// It is held as long as more than R's objects own the graph (a loop, a monitored session). Then R's
// object of the graph keeps it, so that R's collector sees the circle of a function that sees its
// graph. The graph of a function of elements has an object of R's for good: the handle of the
// function keeps it, with that the handles of datasets, and these the graphs that read them.
class GraphClosure : public ObjectOwner {
 public:
  GraphClosure(Graph& graph, SEXP function);
  ~GraphClosure() override;
  GraphClosure(const GraphClosure&) = delete;
  GraphClosure& operator=(const GraphClosure&) = delete;

  SEXP get() const override;

 private:
  friend void release_closures();
  bool hand_over();

  // of a branch or a body, the graph around all of them
  std::weak_ptr<Graph> graph_;
  Preserved weak_;  // a weak reference to the cell that has the function
  Preserved root_;  // the cell, or nothing
};

// What calls `function` is in `graph`, or works on it.
RFunctionPtr function_of_graph(Graph& graph, SEXP function);
void transfer_to(Graph& graph, const NewFunctions& functions);

// An object of R's that the graph is to have as long as it is there: a dataset that it reads.
void keep_for_graph(Graph& graph, SEXP object);

// Functions of graphs that R's objects alone own are handed over to these. Called now and then.
void release_closures();

// --- r/graph/graph.cpp

bool has_object(const Graph& graph);
// Beside the handles of the graph, which has an object of R's.
void keep_with_graph(Graph& graph, SEXP object);
// How many sessions of the graph R's objects own; each has a share of the graph.
int& r_sessions_of(const Graph& graph);
// What goes with the graph.
std::vector<std::unique_ptr<GraphClosure>>& kept_by(Graph& graph);

}  // namespace r
}  // namespace runhooks
