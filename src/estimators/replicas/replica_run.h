// Synchronizes the processes of a distributed training: same calls, same start, same graph.
#pragma once

#include <string>

#include "graph/graph.h"
#include "session/run_hook.h"

namespace runhooks {

// Called by all processes when they begin `what` (such as "train()" with the package version) on a
// model. Copies the chief's newest checkpoint and metadata to the model directories of the others.
// Throws in all processes if one of them does something else.
void begin_collective(const std::string& what, const std::string& folder);
// Waits for all processes. Throws in all of them if one passes a different `what`.
void check_same_collective(const std::string& what);
// Call at the end of the script. Throws like check_same_collective().
void end_collective();

// Throws in all processes, naming the first difference, if their graphs differ.
void check_same_graph(const Graph& graph);

// The first hook of a training: broadcasts the chief's initial values and compares the variables of
// all processes regularly and at the end.
HookPtr replica_hook();

}  // namespace runhooks
