// add_saver(): adds the save and restore operations to an exported graph.
#pragma once

#include <vector>

#include "graph/saveable.h"
#include "io/graphs/meta_graph.h"

namespace runhooks {

// Adds the operations of tf.train.Saver for `saveables`, the result of exported_saveables_in(), to
// the lowered graph. Returns the names of the tensors and operations with which TensorFlow saves
// and restores. The name scope is "save", made unique.
SaverDef add_saver(Graph& lowered, const std::vector<SaveablePtr>& saveables);

}  // namespace runhooks
