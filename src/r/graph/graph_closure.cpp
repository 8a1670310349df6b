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
  static auto* all = new std::set<GraphClosure*>;
  return *all;
}

Graph& outermost(Graph& graph) {
  Graph* at = &graph;
  while (auto* function = dynamic_cast<FuncGraph*>(at)) at = &function->outer();
  return *at;
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
  const OwnedObjects::Scope apart(nullptr);
  // Amortizes release_closures(): a call per function would be quadratic.
  static size_t release_threshold = 0;
  if (preserved_closures().size() >= release_threshold) {
    release_closures();
    release_threshold = 2 * preserved_closures().size() + 8;
  }
  Graph& home = outermost(graph);
  graph_ = home.shared_from_this();
  Rcpp::Shield<SEXP> cell(R_MakeExternalPtr(nullptr, Rf_install("runhooks_function"), function));
  Rcpp::Shield<SEXP> weak(R_MakeWeakRef(cell, R_NilValue, R_NilValue, FALSE));
  weak_.reset(weak);
  if (dynamic_cast<ElementGraph*>(&home)) {
    Rcpp::Shield<SEXP> object(graph_handle(home.shared_from_this()));
    attach_to_graph(home, cell);
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

// Returns true, after the transfer, if no C++ object owns the graph.
bool GraphClosure::transfer_if_unowned() {
  const auto graph = graph_.lock();
  if (!graph || !has_object(*graph)) return false;
  // Owners besides C++: this pointer, the R object, and the sessions that R owns.
  if (graph.use_count() > 2 + r_sessions_of(*graph)) return false;
  attach_to_graph(*graph, root_.get());
  root_.reset(R_NilValue);
  return true;
}

RFunctionPtr function_of_graph(Graph& graph, SEXP function) {
  return std::make_shared<RFunction>(std::make_unique<GraphClosure>(graph, function));
}

void transfer_to(Graph& graph, const NewFunctions& functions) {
  for (const auto& one : functions) {
    const RFunctionPtr function = one.lock();
    if (function) function->attach_to(std::make_unique<GraphClosure>(graph, function->get()));
  }
}

void preserve_with_graph(Graph& graph, SEXP object) {
  Graph& home = outermost(graph);
  Rcpp::Shield<SEXP> of(graph_handle(home.shared_from_this()));
  closures_of(home).push_back(std::make_unique<GraphClosure>(home, object));
}

void release_closures() {
  auto& held = preserved_closures();
  // Allocating a cell may collect graphs together with their functions.
  const std::vector<GraphClosure*> all(held.begin(), held.end());
  for (GraphClosure* function : all) {
    if (held.count(function) && function->transfer_if_unowned()) held.erase(function);
  }
}

}  // namespace r
}  // namespace runhooks
