// Add_saver(): adds the save and restore operations of an exported graph.
#pragma once

#include <vector>

#include "graph/saveable.h"
#include "io/graphs/meta_graph.h"

namespace runhooks {

// Adds the operations of tf.train.Saver for `saveables`, as returned by exported_saveables_in(), to
// the lowered graph. Returns the names of its entry points. The name scope is a unique "save".
SaverDef add_saver(Graph& lowered, const std::vector<SaveablePtr>& saveables);

}  // namespace runhooks
