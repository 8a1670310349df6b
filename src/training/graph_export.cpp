#include "training/graph_export.h"

#include "io/graph_def.h"
#include "io/meta_graph.h"

namespace runhooks {

namespace {

GraphDef graph_with_shapes(const Graph& graph) {
  GraphDefOptions options;
  options.add_shapes = true;
  return make_graph_def(graph, options);
}

}  // namespace

std::string exported_graph(const Graph& graph) { return write_graph_def(graph_with_shapes(graph)); }

std::string exported_graph_text(const Graph& graph) {
  return graph_def_text(graph_with_shapes(graph));
}

std::string exported_meta_graph(const Graph& graph) {
  MetaGraphDef meta_graph;
  meta_graph.op_list = write_op_list(graph);
  meta_graph.graph_def = exported_graph(graph);
  meta_graph.collections = collection_defs(graph);
  return write_meta_graph(meta_graph);
}

const std::string& MetaGraphCache::of(const Graph& graph) {
  if (version_ != graph.version() || collections_version_ != graph.collections_version()) {
    bytes_ = exported_meta_graph(graph);
    version_ = graph.version();
    collections_version_ = graph.collections_version();
  }
  return bytes_;
}

}  // namespace runhooks
