#include "r/graph/graph_closure.h"

#include <set>
#include <vector>

#include "data/element_graph.h"
#include "graph/func_graph.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/finalizers.h"
#include "r/values/owned_objects.h"

namespace runhooks {
namespace r {

namespace {

std::set<GraphClosure*>& preserved_closures() {
  static auto* closures = new std::set<GraphClosure*>;
  return *closures;
}

Graph& outermost(Graph& graph) {
  Graph* current = &graph;
  while (auto* function = dynamic_cast<FuncGraph*>(current)) current = &function->outer();
  return *current;
}

bool is_release_scheduled = false;

void schedule_release() {
  if (is_release_scheduled) return;
  is_release_scheduled = true;
  on_next_gc([] {
    is_release_scheduled = false;
    release_closures();
    if (!preserved_closures().empty()) schedule_release();
  });
}

}  // namespace

GraphClosure::GraphClosure(Graph& graph, SEXP function) {
  const OwnedObjects::Scope global_list(nullptr);
  // Calls release_closures() only when the number of functions has doubled: it visits all of them,
  // so a call for each new function would take quadratic time.
  static size_t release_threshold = 0;
  if (preserved_closures().size() >= release_threshold) {
    release_closures();
    release_threshold = 2 * preserved_closures().size() + 8;
  }
  Graph& root_graph = outermost(graph);
  graph_ = root_graph.shared_from_this();
  Rcpp::Shield<SEXP> cell(R_MakeExternalPtr(nullptr, Rf_install("runhooks_function"), function));
  Rcpp::Shield<SEXP> weak(R_MakeWeakRef(cell, R_NilValue, R_NilValue, FALSE));
  weak_.reset(weak);
  if (dynamic_cast<ElementGraph*>(&root_graph)) {
    Rcpp::Shield<SEXP> object(graph_handle(root_graph.shared_from_this()));
    attach_to_graph(root_graph, cell);
    return;
  }
  root_.reset(cell);
  preserved_closures().insert(this);
  schedule_release();
}

GraphClosure::~GraphClosure() { preserved_closures().erase(this); }

SEXP GraphClosure::get() const {
  SEXP cell = R_WeakRefKey(weak_.get());
  return cell == R_NilValue ? R_NilValue : R_ExternalPtrProtected(cell);
}

// Transfers the function to the R object if no C++ object owns the graph. Returns whether it did.
bool GraphClosure::transfer_if_unowned() {
  const auto graph = graph_.lock();
  if (!graph || !has_object(*graph)) return false;
  // Owners other than C++ code: this pointer, the R object, and the sessions that R owns.
  if (graph.use_count() > 2 + r_sessions_of(*graph)) return false;
  attach_to_graph(*graph, root_.get());
  root_.reset(R_NilValue);
  return true;
}

RFunctionPtr function_of_graph(Graph& graph, SEXP function) {
  return std::make_shared<RFunction>(std::make_unique<GraphClosure>(graph, function));
}

void transfer_to(Graph& graph, const NewFunctions& functions) {
  for (const auto& reference : functions) {
    const RFunctionPtr function = reference.lock();
    if (function) function->attach_to(std::make_unique<GraphClosure>(graph, function->get()));
  }
}

void preserve_with_graph(Graph& graph, SEXP object) {
  Graph& root_graph = outermost(graph);
  Rcpp::Shield<SEXP> root_object(graph_handle(root_graph.shared_from_this()));
  closures_of(root_graph).push_back(std::make_unique<GraphClosure>(root_graph, object));
}

void release_closures() {
  auto& closures = preserved_closures();
  // Iterates over a copy: allocating a cell may collect graphs together with their functions.
  const std::vector<GraphClosure*> copy(closures.begin(), closures.end());
  for (GraphClosure* function : copy) {
    if (closures.count(function) && function->transfer_if_unowned()) closures.erase(function);
  }
}

}  // namespace r
}  // namespace runhooks
