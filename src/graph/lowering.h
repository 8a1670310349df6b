// What lives here: lowered_graph(), a graph in TensorFlow's ops alone, as files hold it.
// Who may use it: whatever writes a graph for TensorFlow to read.
// What it must not know: any particular op, files, R.
#pragma once

#include <memory>

#include "graph/graph.h"

namespace runhooks {

// The same graph with every op that TensorFlow does not know in TensorFlow's (OpDef::lower_fn).
// Operations and tensors keep their names: what an op was lowered to lives in the op's own name
// scope, and the last of it has its name. Collections are those of `graph`, and what lowering adds:
// initializers of tables, which run with the local ones, and paths of files.
std::shared_ptr<Graph> lowered_graph(const Graph& graph);

}  // namespace runhooks
