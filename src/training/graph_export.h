// A graph as the files of a run hold it: GraphDef, MetaGraphDef and graph.pbtxt.
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

// A graph as bytes and text, in TensorFlow's ops. Of one that has grown only what is new is made.
class GraphExport {
 public:
  explicit GraphExport(const Graph& graph) : graph_(graph) {}
  // The one that all share, which lives as long as the graph.
  static GraphExport& of(const Graph& graph);

  // A GraphDef with the shapes of all outputs, for TensorBoard.
  const std::string& graph_def();
  // Of these bytes, to be compared.
  uint64_t fingerprint();
  // The same as text.
  std::string graph_text();
  // A MetaGraphDef with the collections, for tf.train.import_meta_graph(), and with operations that
  // save and restore what it has, which sessions of ours do not need.
  const std::string& meta_graph();

 private:
  // What can go on where the graph grows.
  struct Incremental {
    explicit Incremental(const Graph& graph);
    IncrementalLowering lowering;
    GraphDefWriter writer;
    std::vector<std::string> saved;  // the names of what the saver saves
    std::optional<SaverDef> saver_def;
    WireWriter saver_nodes;
  };
  bool is_current() const;
  void update();
  std::unique_ptr<Incremental> grown(const std::vector<std::string>& saved);
  std::string meta_graph_of(const Incremental& growing) const;

  const Graph& graph_;
  int version_ = -1, collections_version_ = -1;
  std::unique_ptr<Incremental> growing_;  // NULL of a graph that is finalized
  WireWriter graph_def_;
  size_t nodes_size_ = 0;  // of graph_def_, without its end
  std::string meta_graph_;
  std::optional<uint64_t> fingerprint_;  // where it was asked for
};

}  // namespace runhooks
