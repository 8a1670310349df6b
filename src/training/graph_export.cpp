#include "training/graph_export.h"

#include "base/fingerprint.h"
#include "io/proto/text_format.h"
#include "training/export_saver.h"

namespace runhooks {

namespace {

GraphDefOptions options_with_shapes() {
  GraphDefOptions options;
  options.add_shapes = true;
  return options;
}

std::vector<std::string> names_of(const std::vector<SaveablePtr>& saveables) {
  std::vector<std::string> names;
  for (const SaveablePtr& saveable : saveables) names.push_back(saveable->name());
  return names;
}

}  // namespace

GraphExport& GraphExport::of(const Graph& graph) {
  if (!graph.exported) graph.exported = std::make_shared<GraphExport>(graph);
  return *static_cast<GraphExport*>(graph.exported.get());
}

GraphExport::Incremental::Incremental(const Graph& graph)
    : lowering(graph), writer(lowering.lowered(), options_with_shapes()) {}

// Updates the nodes in graph_def_. If nodes were only added to the graph, extends the previous
// export; otherwise exports all nodes again. incremental_ is empty meanwhile, so that an exception
// discards the incomplete export.
std::unique_ptr<GraphExport::Incremental> GraphExport::extend_or_restart(
    const std::vector<std::string>& saveable_names) {
  std::unique_ptr<Incremental> incremental = std::move(incremental_);
  if (!incremental || incremental->saveable_names != saveable_names ||
      !incremental->lowering.extend()) {
    incremental = std::make_unique<Incremental>(graph_);
    nodes_size_ = 0;
  }
  graph_def_.truncate(nodes_size_);
  incremental->writer.put_new_nodes(graph_def_);
  nodes_size_ = graph_def_.bytes().size();
  return incremental;
}

bool GraphExport::is_current() const {
  return version_ == graph_.version() && collections_version_ == graph_.collections_version();
}

void GraphExport::update() {
  if (graph_.finalized() && is_current()) incremental_.reset();
  if (is_current()) return;
  version_ = -1;
  fingerprint_.reset();
  const std::vector<SaveablePtr> saveables = exported_saveables_in(graph_);
  const std::vector<std::string> saveable_names = names_of(saveables);
  std::unique_ptr<Incremental> incremental = extend_or_restart(saveable_names);
  Graph& lowered = incremental->lowering.lowered();
  if (!saveables.empty() && !incremental->saver_def) {
    incremental->saveable_names = saveable_names;
    incremental->saver_def = add_saver(lowered, saveables);
    incremental->writer.put_new_nodes(incremental->saver_nodes);
  }
  incremental->writer.put_end(graph_def_);
  meta_graph_ = meta_graph_of(*incremental);
  if (!graph_.finalized()) incremental_ = std::move(incremental);
  version_ = graph_.version();
  collections_version_ = graph_.collections_version();
}

std::string GraphExport::meta_graph_of(const Incremental& incremental) const {
  const Graph& lowered = incremental.lowering.lowered();
  MetaGraphDef meta_graph;
  meta_graph.collections = collection_defs(lowered);
  if (incremental.saver_def) {
    meta_graph.saver_def = incremental.saver_def;
    CollectionDef& savers = meta_graph.collections[collection_keys::kSavers];
    savers.kind = CollectionDef::Kind::kBytesList;
    savers.strings = {write_saver_def(*incremental.saver_def)};
  }
  meta_graph.op_list = write_op_list(lowered);
  const std::string_view graph = graph_def_.bytes();
  return write_meta_graph(meta_graph, {graph.substr(0, nodes_size_),
                                       incremental.saver_nodes.bytes(), graph.substr(nodes_size_)});
}

const std::string& GraphExport::graph_def() {
  update();
  return graph_def_.bytes();
}

uint64_t GraphExport::fingerprint() {
  update();
  if (!fingerprint_) fingerprint_ = fingerprint64(graph_def_.bytes());
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
