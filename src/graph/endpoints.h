// Endpoints: names of tensors that hooks can request from any model, such as "loss" and
// "predictions".
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The tensors of an endpoint with their keys. "loss" has one tensor; "predictions" may have
// several.
using EndpointTensors = std::vector<std::pair<std::string, Output>>;

// Adds a tensor, identified by `key`, to the endpoint `name`. An endpoint name has no colon, so
// "loss" differs from "loss:0", the output of an operation.
void add_endpoint(Graph& graph, const std::string& name, const std::string& key, Output tensor);
// Returns the tensors of an endpoint; empty if the endpoint does not exist.
const EndpointTensors& endpoint(const Graph& graph, const std::string& name);
std::vector<std::string> endpoint_names(const Graph& graph);

}  // namespace runhooks
