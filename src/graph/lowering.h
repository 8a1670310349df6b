// Lowered_graph(), which translates a graph to TensorFlow's ops for files, and IncrementalLowering.
#pragma once

#include <memory>

#include "graph/graph.h"

namespace runhooks {

// Returns a copy of the graph in which OpDef::lower_fn has replaced every op that TensorFlow lacks
// by TensorFlow ops. Names of operations and tensors do not change: the replacements of an op are
// in the name scope of the op, and the last one has its name and outputs. Lowering adds table
// initializers (which run with the local init op) and file paths to the collections.
// In the lowered graph, variable updates of the training step have control dependencies on the
// readers of the old values. Our sessions order them without such edges; TensorFlow does not.
std::shared_ptr<Graph> lowered_graph(const Graph& graph);

class Lowering;

// Lowers a growing graph, and each operation only once. Must not outlive the graph. Callers may add
// operations to lowered(), but their names are then taken.
class IncrementalLowering {
 public:
  explicit IncrementalLowering(const Graph& graph);
  ~IncrementalLowering();
  // Lowers the operations added since the last call. FALSE means that it did nothing and the whole
  // graph must be lowered again: old operations changed, or a new one has a name that is taken.
  bool grow();
  Graph& lowered() const { return *to_; }

 private:
  const std::shared_ptr<Graph> to_;
  const std::unique_ptr<Lowering> lowering_;
};

}  // namespace runhooks
