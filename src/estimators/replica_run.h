// What lives here: what a training by several processes does beside its steps: it begins alike everywhere, and stays so.
// Who may use it: estimators, the bindings.
// What it must not know: any particular model or hook, R.
#pragma once

#include <string>

#include "graph/graph.h"
#include "session/run_hook.h"

namespace runhooks {

// All processes call it when they begin `what` ("train()", with the version of the package) on a
// model, in whose folder they all have the chief's newest checkpoint then, and what the chief knows
// of the model; each has a folder of its own. Where another process does something else it is an
// error, in all of them, that names both.
void begin_collective(const std::string& what, const std::string& folder);
// All processes have come to the same. An error as above.
void meet(const std::string& what);
// The script of this process has come to its end. An error as above.
void end_collective();

// An error, in all processes, that names what differs between the graphs they train.
void check_same_graph(const Graph& graph);

// The first hook of a training: the chief's values are handed round when the session is there, and
// every so many steps, and at the end, all processes compare what their variables hold.
HookPtr replica_hook();

}  // namespace runhooks
