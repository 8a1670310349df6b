#include "training/graph_export.h"

#include "base/fingerprint.h"
#include "graph/lowering.h"
#include "io/graphs/graph_def.h"
#include "io/graphs/meta_graph.h"
#include "io/proto/text_format.h"
#include "training/export_saver.h"

namespace runhooks {

void GraphExport::update(const Graph& graph) {
  if (version_ == graph.version() && collections_version_ == graph.collections_version()) return;
  GraphDefOptions options;
  options.add_shapes = true;
  const std::shared_ptr<Graph> lowered = lowered_graph(graph);
  GraphDefWriter writer(*lowered, options);
  graph_def_ = writer.bytes();
  fingerprint_.reset();
  MetaGraphDef meta_graph;
  meta_graph.collections = collection_defs(*lowered);
  const std::vector<SaveablePtr> saveables = exported_saveables_in(graph);
  if (!saveables.empty()) {
    meta_graph.saver_def = add_saver(*lowered, saveables);
    CollectionDef& savers = meta_graph.collections[collection_keys::kSavers];
    savers.kind = CollectionDef::Kind::kBytesList;
    savers.strings = {write_saver_def(*meta_graph.saver_def)};
  }
  meta_graph.op_list = write_op_list(*lowered);
  meta_graph.graph_def = writer.bytes();  // with what the saver has added
  meta_graph_ = write_meta_graph(meta_graph);
  version_ = graph.version();
  collections_version_ = graph.collections_version();
}

const std::string& GraphExport::graph_def(const Graph& graph) {
  update(graph);
  return graph_def_;
}

uint64_t GraphExport::fingerprint(const Graph& graph) {
  update(graph);
  if (!fingerprint_) fingerprint_ = fingerprint64(graph_def_);
  return *fingerprint_;
}

const std::string& GraphExport::meta_graph(const Graph& graph) {
  update(graph);
  return meta_graph_;
}

std::string GraphExport::graph_text(const Graph& graph) {
  return proto_to_text(graph_def(graph), "GraphDef", "graph.pbtxt", FloatText::kAsDouble);
}

}  // namespace runhooks
