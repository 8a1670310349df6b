// What lives here: a graph as the files of a run hold it: GraphDef, MetaGraphDef and graph.pbtxt.
// Who may use it: hooks, estimators, the bindings.
// What it must not know: when files are written, R.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/graph.h"

namespace runhooks {

// A graph as bytes and text, in TensorFlow's ops, made anew only where it has changed.
class GraphExport {
 public:
  // A GraphDef with the shapes of all outputs, for TensorBoard.
  const std::string& graph_def(const Graph& graph);
  // Of these bytes, to be compared.
  uint64_t fingerprint(const Graph& graph);
  // The same as text.
  std::string graph_text(const Graph& graph);
  // A MetaGraphDef with the collections, for tf.train.import_meta_graph(), and with operations that
  // save and restore what it has, which sessions of ours do not need.
  const std::string& meta_graph(const Graph& graph);

 private:
  void update(const Graph& graph);
  int version_ = -1, collections_version_ = -1;
  std::string graph_def_, meta_graph_;
  std::optional<uint64_t> fingerprint_;  // where it was asked for
};

}  // namespace runhooks
