#include "graph/gauss_newton.h"

#include <map>

namespace runhooks {

namespace {

// The collection that holds the diagonals. Its item is a shared_ptr<void>, which exports omit.
constexpr const char* kGaussNewton = "curvature";
using Diagonals = std::map<std::string, DiagonalFn>;

Diagonals* find_diagonals(const Graph& graph) {
  const std::vector<CollectionItem> items = graph.collection(kGaussNewton);
  if (items.empty()) return nullptr;
  const auto* diagonals = std::get_if<std::shared_ptr<void>>(&items.front());
  return diagonals ? static_cast<Diagonals*>(diagonals->get()) : nullptr;
}

}  // namespace

void set_gauss_newton_diagonal(Graph& graph, const Variable& variable, DiagonalFn diagonal) {
  if (!find_diagonals(graph)) {
    graph.add_to_collection(kGaussNewton,
                            std::static_pointer_cast<void>(std::make_shared<Diagonals>()));
  }
  (*find_diagonals(graph))[variable.op_name()] = std::move(diagonal);
}

Output gauss_newton_diagonal(Graph& graph, const Variable& variable) {
  const Diagonals* diagonals = find_diagonals(graph);
  if (!diagonals) return Output();
  const auto found = diagonals->find(variable.op_name());
  return found == diagonals->end() ? Output() : found->second(graph);
}

}  // namespace runhooks
