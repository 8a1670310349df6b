// What lives here: add_saver(), the operations by which a graph in a file saves and restores itself.
// Who may use it: whatever writes graphs for TensorFlow.
// What it must not know: Saver (which needs no operations), files, R.
#pragma once

#include <vector>

#include "graph/variable.h"
#include "io/graphs/meta_graph.h"

namespace runhooks {

// Adds tf.train.Saver's operations for these variables to a graph that has operations of their
// names, and says which of them are called. The scope is "save", made unique.
SaverDef add_saver(Graph& graph, const std::vector<VariablePtr>& variables);

// Where a variable lies in the tensor of a checkpoint, as RestoreV2 takes it: "7 2 0,3:0,2"; ""
// where it is whole.
std::string slice_spec(const Variable& variable);

// The global variables of a graph in the order in which a checkpoint has them.
std::vector<VariablePtr> saved_variables(const Graph& graph);

}  // namespace runhooks
