// Endpoints: names of tensors that hooks can request from any model, such as "loss" and
// "predictions".
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// One tensor, or several with names.
using EndpointTensors = std::vector<std::pair<std::string, Output>>;

// Adds a tensor to the endpoint `name`, which contains no colon: "loss:0" is the tensor of an
// operation, "loss" is an endpoint.
void add_endpoint(Graph& graph, const std::string& name, const std::string& key, Output tensor);
// Empty if the endpoint does not exist.
const EndpointTensors& endpoint(const Graph& graph, const std::string& name);
std::vector<std::string> endpoint_names(const Graph& graph);

}  // namespace runhooks
