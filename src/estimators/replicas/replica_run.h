// Synchronizes the processes of a distributed training: same calls, same start, same graph.
#pragma once

#include <string>

#include "graph/graph.h"
#include "session/run_hook.h"

namespace runhooks {

// All processes call this function at the start of `call`, which names an R function and the
// package version. Copies the chief's newest checkpoint and metadata to the model directories of
// the other processes. Throws in all processes if the values of `call` differ.
void begin_collective(const std::string& call, const std::string& folder);
// Waits for all processes. Throws in all of them if the values of `call` differ.
void check_same_collective(const std::string& call);
// Call at the end of the script. Throws like check_same_collective().
void end_collective();

// Throws in all processes, naming the first difference, if their graphs differ.
void check_same_graph(const Graph& graph);

// Returns the first hook of a training. It broadcasts the chief's initial values and compares the
// variables of all processes regularly and at the end.
HookPtr replica_hook();

}  // namespace runhooks
