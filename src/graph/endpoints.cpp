#include "graph/endpoints.h"

#include <map>

namespace runhooks {

namespace {

// The collection that holds the endpoints. Its item is a shared_ptr<void>, which exports omit.
constexpr const char* kEndpoints = "endpoints";
using Endpoints = std::map<std::string, EndpointTensors>;

Endpoints* find_endpoints(const Graph& graph) {
  const std::vector<CollectionItem> items = graph.collection(kEndpoints);
  if (items.empty()) return nullptr;
  const auto* endpoints = std::get_if<std::shared_ptr<void>>(&items.front());
  return endpoints ? static_cast<Endpoints*>(endpoints->get()) : nullptr;
}

}  // namespace

void add_endpoint(Graph& graph, const std::string& name, const std::string& key, Output tensor) {
  if (!find_endpoints(graph)) {
    graph.add_to_collection(kEndpoints,
                            std::static_pointer_cast<void>(std::make_shared<Endpoints>()));
  }
  (*find_endpoints(graph))[name].emplace_back(key, tensor);
}

const EndpointTensors& endpoint(const Graph& graph, const std::string& name) {
  static const EndpointTensors none;
  const Endpoints* all = find_endpoints(graph);
  if (!all) return none;
  const auto found = all->find(name);
  return found == all->end() ? none : found->second;
}

std::vector<std::string> endpoint_names(const Graph& graph) {
  std::vector<std::string> names;
  if (const Endpoints* all = find_endpoints(graph)) {
    for (const auto& entry : *all) names.push_back(entry.first);
  }
  return names;
}

}  // namespace runhooks
