// lowered_graph(): copies a graph and replaces the ops that TensorFlow lacks, as files require.
// IncrementalLowering: the same for a graph that grows.
#pragma once

#include <memory>

#include "graph/graph.h"

namespace runhooks {

// Returns a copy of `graph` in which TensorFlow's ops replace each op that TensorFlow lacks
// (OpDef::lower_fn). Operations and tensors keep their names: a replacement is in a name scope with
// the operation's name, and its last operation has this name. Adds initializers of tables and asset
// paths to the collections of the copy. In a training step, each update of a variable gets control
// dependencies on the reads that precede it. Only our sessions guarantee this order without them.
std::shared_ptr<Graph> lowered_graph(const Graph& graph);

class Lowering;

// Lowers only the new operations of a growing graph. Must not outlive the graph. The caller may add
// operations to lowered(); they stay.
class IncrementalLowering {
 public:
  explicit IncrementalLowering(const Graph& graph);
  ~IncrementalLowering();
  // Lowers the operations that were added since the last call. Returns FALSE without any effect if
  // the whole graph must be lowered again, because an existing operation has changed or a name is
  // taken.
  bool extend();
  Graph& lowered() const { return *to_; }

 private:
  const std::shared_ptr<Graph> to_;
  const std::unique_ptr<Lowering> lowering_;
};

}  // namespace runhooks
