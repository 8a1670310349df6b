#include "data/element_graph.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"

namespace runhooks {
namespace r {

namespace {

// Returns the default graph that is used while the stack is empty.
std::shared_ptr<Graph>& global_graph() {
  static auto* graph = new std::shared_ptr<Graph>;
  return *graph;
}

struct DefaultGraphs {
  std::vector<std::shared_ptr<Graph>> stack;
  // R code must not pop the first entries, which belong to running loops.
  size_t protected_size = 0;
};

DefaultGraphs& default_graphs() {
  static auto* graphs = new DefaultGraphs;
  return *graphs;
}

}  // namespace

DefaultGraph::DefaultGraph(std::shared_ptr<Graph> graph)
    : outer_protected_size_(default_graphs().protected_size) {
  default_graphs().stack.push_back(std::move(graph));
  default_graphs().protected_size = default_graphs().stack.size();
}
// Removes the graph. Also removes the graphs above it, which R code has left on the stack.
DefaultGraph::~DefaultGraph() {
  default_graphs().stack.resize(default_graphs().protected_size - 1);
  default_graphs().protected_size = outer_protected_size_;
}

std::shared_ptr<Graph> default_graph() {
  if (!default_graphs().stack.empty()) return default_graphs().stack.back();
  if (!global_graph()) global_graph() = std::make_shared<Graph>();
  return global_graph();
}

std::shared_ptr<Graph> graph_for(Graph& graph) {
  const std::shared_ptr<Graph> current = default_graph();
  const bool is_function = graph.is_function() || dynamic_cast<const ElementGraph*>(&graph);
  return is_function || encloses(graph, *current) ? current : graph.shared_from_this();
}

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::export(rng = false)]]
SEXP cpp_graph_default() {
  return guarded_entry([&] { return graph_handle(default_graph()); });
}

// [[Rcpp::export(rng = false)]]
void cpp_graph_push_default(SEXP graph) {
  guarded_entry([&] { default_graphs().stack.push_back(graph_of(graph)); });
}

// [[Rcpp::export(rng = false)]]
void cpp_graph_pop_default() {
  guarded_entry([&] {
    DefaultGraphs& graphs = default_graphs();
    if (graphs.stack.size() > graphs.protected_size) graphs.stack.pop_back();
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_graph_reset_default() {
  guarded_entry([] {
    if (!default_graphs().stack.empty()) {
      fail(Code::kFailedPrecondition,
           "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared "
           "graph, exit the nesting and create a new graph.");
    }
    global_graph().reset();
  });
}
