// Add_saver(), the operations by which a graph in a file saves and restores itself.
#pragma once

#include <vector>

#include "graph/saveable.h"
#include "io/graphs/meta_graph.h"

namespace runhooks {

// Adds tf.train.Saver's operations for these (exported_saveables_in()) to the lowered graph of
// theirs, and says which of them are called. The scope is "save", made unique.
SaverDef add_saver(Graph& lowered, const std::vector<SaveablePtr>& saveables);

}  // namespace runhooks
