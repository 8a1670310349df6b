#include "graph/gauss_newton.h"

#include <map>

namespace runhooks {

namespace {

// Stored in a collection as a plain pointer, so that exported graphs omit it.
constexpr const char* kCurvature = "curvature";
using Offers = std::map<std::string, CurvatureFn>;

Offers* find_diagonals(const Graph& graph) {
  const std::vector<CollectionItem> items = graph.collection(kCurvature);
  if (items.empty()) return nullptr;
  const auto* held = std::get_if<std::shared_ptr<void>>(&items.front());
  return held ? static_cast<Offers*>(held->get()) : nullptr;
}

}  // namespace

void set_gauss_newton_diagonal(Graph& graph, const Variable& variable, CurvatureFn curvature) {
  if (!find_diagonals(graph)) {
    graph.add_to_collection(kCurvature, std::static_pointer_cast<void>(std::make_shared<Offers>()));
  }
  (*find_diagonals(graph))[variable.op_name()] = std::move(curvature);
}

Output curvature_of(Graph& graph, const Variable& variable) {
  const Offers* offers = find_diagonals(graph);
  if (!offers) return Output();
  const auto found = offers->find(variable.op_name());
  return found == offers->end() ? Output() : found->second(graph);
}

}  // namespace runhooks
