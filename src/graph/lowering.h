// Lowered_graph(), a graph in TensorFlow's ops alone, as files hold it; IncrementalLowering.
#pragma once

#include <memory>

#include "graph/graph.h"

namespace runhooks {

// The same graph with every op that TensorFlow does not know in TensorFlow's (OpDef::lower_fn).
// Operations and tensors keep their names: what an op was lowered to lives in the op's own name
// scope, and the last of it has its name. Collections are those of `graph`, and what lowering adds:
// initializers of tables, which run with the local ones, and paths of files. Updates of a training
// step wait for what reads the variables before they change, as our sessions do it unasked.
std::shared_ptr<Graph> lowered_graph(const Graph& graph);

class Lowering;

// The same of a graph that grows: what has been lowered is not lowered again. It must not outlive
// the graph. What is added to lowered() elsewhere stays, and is in the way of nothing but its name.
class IncrementalLowering {
 public:
  explicit IncrementalLowering(const Graph& graph);
  ~IncrementalLowering();
  // Lowers what the graph has got since. FALSE, and nothing is done, where all has to be lowered
  // anew: something that was there is not what it was, or what is new has a name that is taken.
  bool grow();
  Graph& lowered() const { return *to_; }

 private:
  const std::shared_ptr<Graph> to_;
  const std::unique_ptr<Lowering> lowering_;
};

}  // namespace runhooks
