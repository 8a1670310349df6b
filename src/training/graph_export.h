// What lives here: a graph as the files of a run hold it: GraphDef, MetaGraphDef and graph.pbtxt.
// Who may use it: hooks, estimators, the bindings.
// What it must not know: when files are written, R.
#pragma once

#include <string>

#include "graph/graph.h"

namespace runhooks {

// A GraphDef with the shapes of all outputs, for TensorBoard.
std::string exported_graph(const Graph& graph);
// The same as text.
std::string exported_graph_text(const Graph& graph);
// A MetaGraphDef with the collections, for tf.train.import_meta_graph(). It has no SaverDef: the
// graph has no operations that save, so whoever imports it makes a Saver of its variables.
std::string exported_meta_graph(const Graph& graph);

// The meta graph of a graph that hardly ever changes, made once.
class MetaGraphCache {
 public:
  const std::string& of(const Graph& graph);

 private:
  int version_ = -1, collections_version_ = -1;
  std::string bytes_;
};

}  // namespace runhooks
