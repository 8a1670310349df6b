// freeze(): replaces the variables of a GraphDef by constants.
#pragma once

#include <string>
#include <vector>

#include "io/graphs/graph_def.h"
#include "session/session.h"

namespace runhooks {

struct FreezeOptions {
  // Names of variables to freeze (all if empty), and of variables to keep.
  std::vector<std::string> whitelist, blacklist;
};

// Returns the nodes that `outputs` depend on. Variables become constants with their values in the
// session. Like tf.graph_util.convert_variables_to_constants().
GraphDef freeze(Session& session,
                const GraphDef& graph_def,
                const std::vector<std::string>& outputs,
                const FreezeOptions& options = {});

}  // namespace runhooks
