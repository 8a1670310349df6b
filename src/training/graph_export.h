// GraphExport: serializes a graph as GraphDef, MetaGraphDef and graph.pbtxt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/graph.h"

namespace runhooks {

// Caches the serialized graph in TensorFlow's ops until the graph changes.
class GraphExport {
 public:
  explicit GraphExport(const Graph& graph) : graph_(graph) {}
  // The instance shared by all callers, which lives as long as the graph.
  static GraphExport& of(const Graph& graph);

  // The GraphDef with the shapes of all outputs, for TensorBoard.
  const std::string& graph_def();
  // Hash of the bytes of graph_def().
  uint64_t fingerprint();
  std::string graph_text();
  // A MetaGraphDef with the collections, for tf.train.import_meta_graph(). It includes save and
  // restore operations for TensorFlow; this package does not run them.
  const std::string& meta_graph();

 private:
  void update();

  const Graph& graph_;
  int version_ = -1, collections_version_ = -1;
  std::string graph_def_, meta_graph_;
  std::optional<uint64_t> fingerprint_;  // computed on first use
};

}  // namespace runhooks
