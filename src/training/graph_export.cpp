#include "training/graph_export.h"

#include "graph/lowering.h"
#include "io/graph_def.h"
#include "io/meta_graph.h"
#include "io/text_format.h"

namespace runhooks {

void GraphExport::update(const Graph& graph) {
  if (version_ == graph.version() && collections_version_ == graph.collections_version()) return;
  GraphDefOptions options;
  options.add_shapes = true;
  const std::shared_ptr<const Graph> lowered = lowered_graph(graph);
  graph_def_ = write_graph_def(make_graph_def(*lowered, options));
  MetaGraphDef meta_graph;
  meta_graph.op_list = write_op_list(*lowered);
  meta_graph.graph_def = graph_def_;
  meta_graph.collections = collection_defs(*lowered);
  meta_graph_ = write_meta_graph(meta_graph);
  version_ = graph.version();
  collections_version_ = graph.collections_version();
}

const std::string& GraphExport::graph_def(const Graph& graph) {
  update(graph);
  return graph_def_;
}

const std::string& GraphExport::meta_graph(const Graph& graph) {
  update(graph);
  return meta_graph_;
}

std::string GraphExport::graph_text(const Graph& graph) {
  return proto_to_text(graph_def(graph), "GraphDef", "graph.pbtxt", FloatText::kAsDouble);
}

}  // namespace runhooks
