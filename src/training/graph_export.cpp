#include "training/graph_export.h"

#include "base/fingerprint.h"
#include "graph/lowering.h"
#include "io/graphs/graph_def.h"
#include "io/graphs/meta_graph.h"
#include "io/proto/text_format.h"
#include "training/export_saver.h"

namespace runhooks {

namespace {

GraphDefOptions with_shapes() {
  GraphDefOptions options;
  options.add_shapes = true;
  return options;
}

}  // namespace

GraphExport& GraphExport::of(const Graph& graph) {
  if (!graph.exported) graph.exported = std::make_shared<GraphExport>(graph);
  return *static_cast<GraphExport*>(graph.exported.get());
}

void GraphExport::update() {
  if (version_ == graph_.version() && collections_version_ == graph_.collections_version()) return;
  version_ = -1;  // until everything is up to date
  fingerprint_.reset();
  const std::shared_ptr<Graph> lowered = lowered_graph(graph_);
  GraphDefWriter writer(*lowered, with_shapes());
  WireWriter nodes, saver_nodes, end;
  writer.put_new_nodes(nodes);
  MetaGraphDef meta_graph;
  const std::vector<SaveablePtr> saveables = exported_saveables_in(graph_);
  if (!saveables.empty()) {
    meta_graph.saver_def = add_saver(*lowered, saveables);
    writer.put_new_nodes(saver_nodes);
  }
  writer.put_end(end);
  meta_graph.collections = collection_defs(*lowered);
  if (meta_graph.saver_def) {
    CollectionDef& savers = meta_graph.collections[collection_keys::kSavers];
    savers.kind = CollectionDef::Kind::kBytesList;
    savers.strings = {write_saver_def(*meta_graph.saver_def)};
  }
  meta_graph.op_list = write_op_list(*lowered);
  meta_graph_ = write_meta_graph(meta_graph, {nodes.bytes(), saver_nodes.bytes(), end.bytes()});
  graph_def_ = nodes.take();
  graph_def_ += end.bytes();
  version_ = graph_.version();
  collections_version_ = graph_.collections_version();
}

const std::string& GraphExport::graph_def() {
  update();
  return graph_def_;
}

uint64_t GraphExport::fingerprint() {
  update();
  if (!fingerprint_) fingerprint_ = fingerprint64(graph_def_);
  return *fingerprint_;
}

const std::string& GraphExport::meta_graph() {
  update();
  return meta_graph_;
}

std::string GraphExport::graph_text() {
  return proto_to_text(graph_def(), "GraphDef", "graph.pbtxt", FloatText::kAsDouble);
}

}  // namespace runhooks
