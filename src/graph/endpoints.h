// Endpoints: names of tensors that hooks can request from any model, such as "loss" and
// "predictions".
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The tensors of an endpoint with their keys: one tensor, or several as in "predictions".
using EndpointTensors = std::vector<std::pair<std::string, Output>>;

// Adds a tensor to the endpoint `name`. The name has no colon, which distinguishes the endpoint
// "loss" from "loss:0", the output of an operation.
void add_endpoint(Graph& graph, const std::string& name, const std::string& key, Output tensor);
// Empty if the endpoint does not exist.
const EndpointTensors& endpoint(const Graph& graph, const std::string& name);
std::vector<std::string> endpoint_names(const Graph& graph);

}  // namespace runhooks
