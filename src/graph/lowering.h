// lowered_graph(): a copy of a graph that contains only TensorFlow's ops, as files require.
#pragma once

#include <memory>

#include "graph/graph.h"

namespace runhooks {

// Replaces each op that TensorFlow lacks by TensorFlow's ops (OpDef::lower_fn). Operations and
// tensors keep their names: the replacement is in a name scope with the op's name, and its last
// operation has this name. Adds initializers of tables and asset paths to the collections of
// `graph`. Updates of a training step get control dependencies on the reads before them, an order
// that our sessions guarantee without them.
std::shared_ptr<Graph> lowered_graph(const Graph& graph);

}  // namespace runhooks
