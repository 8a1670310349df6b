// Endpoints, the names by which hooks ask any model for the same things: "loss", "predictions".
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// One tensor, or several that have names of their own.
using EndpointTensors = std::vector<std::pair<std::string, Output>>;

// Adds a tensor to the endpoint of this name. A name has no colon: "loss:0" is the tensor of an
// operation, "loss" the endpoint where there is one.
void add_endpoint(Graph& graph, const std::string& name, const std::string& key, Output tensor);
// Empty where there is none.
const EndpointTensors& endpoint(const Graph& graph, const std::string& name);
std::vector<std::string> endpoint_names(const Graph& graph);

}  // namespace runhooks
