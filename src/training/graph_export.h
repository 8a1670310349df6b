// GraphExport: serializes a graph as GraphDef, MetaGraphDef and graph.pbtxt.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/lowering.h"
#include "io/graphs/graph_def.h"
#include "io/graphs/meta_graph.h"

namespace runhooks {

// Caches the serialized graph, which contains only TensorFlow's ops. If nodes are added to the
// graph, only the new nodes are serialized.
class GraphExport {
 public:
  explicit GraphExport(const Graph& graph) : graph_(graph) {}
  // Returns the instance that all callers share, which lives as long as the graph.
  static GraphExport& of(const Graph& graph);

  // Returns the serialized GraphDef with the shapes of all outputs, for TensorBoard.
  const std::string& graph_def();
  // Hash of the bytes of graph_def().
  uint64_t fingerprint();
  std::string graph_text();
  // Returns a serialized MetaGraphDef with the collections, for tf.train.import_meta_graph(). It
  // includes save and restore operations for TensorFlow; this package does not run them.
  const std::string& meta_graph();

 private:
  // The state of an export, to which further nodes can be added.
  struct Incremental {
    explicit Incremental(const Graph& graph);
    IncrementalLowering lowering;
    GraphDefWriter writer;
    std::vector<std::string> saveable_names;  // names of the saver's saveables
    std::optional<SaverDef> saver_def;
    WireWriter saver_nodes;
  };
  bool is_current() const;
  void update();
  std::unique_ptr<Incremental> extend_or_restart(const std::vector<std::string>& saveable_names);
  std::string meta_graph_of(const Incremental& incremental) const;

  const Graph& graph_;
  int version_ = -1, collections_version_ = -1;
  std::unique_ptr<Incremental> incremental_;  // NULL for a finalized graph
  WireWriter graph_def_;
  size_t nodes_size_ = 0;  // bytes of graph_def_ that hold nodes
  std::string meta_graph_;
  std::optional<uint64_t> fingerprint_;  // computed on first use
};

}  // namespace runhooks
