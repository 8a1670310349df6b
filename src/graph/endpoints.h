// Endpoints: names such as "loss" and "predictions" that hooks can fetch from every model.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// One tensor or several, each with a key.
using EndpointTensors = std::vector<std::pair<std::string, Output>>;

// Adds a tensor to the endpoint `name`, which must not contain a colon: "loss:0" is always the
// output of operation "loss", and "loss" is the endpoint if it exists.
void add_endpoint(Graph& graph, const std::string& name, const std::string& key, Output tensor);
// Empty if the graph has no such endpoint.
const EndpointTensors& endpoint(const Graph& graph, const std::string& name);
std::vector<std::string> endpoint_names(const Graph& graph);

}  // namespace runhooks
