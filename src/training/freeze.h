// Freeze(): a GraphDef with the values of variables in the place of the variables.
#pragma once

#include <string>
#include <vector>

#include "io/graphs/graph_def.h"
#include "session/session.h"

namespace runhooks {

struct FreezeOptions {
  // Variables by name: only these, where there are any; never those.
  std::vector<std::string> whitelist, blacklist;
};

// tf.graph_util.convert_variables_to_constants(): what `outputs` need of the GraphDef, with
// variables as constants of their values in the session.
GraphDef freeze(Session& session,
                const GraphDef& graph_def,
                const std::vector<std::string>& outputs,
                const FreezeOptions& options = {});

}  // namespace runhooks
