// An incremental export of a growing graph equals a complete export.
#include <algorithm>

#include "graph/variable.h"
#include "session/session.h"
#include "test.h"
#include "training/graph_export.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

VariablePtr add_variable(Graph& graph, const std::string& name) {
  VariableOptions options;
  options.initializer = constant_initializer(0.5);
  return graph.variables().get(name, Shape{2}, options);
}

void add_sum(Graph& graph, const std::string& name) {
  const Output a = graph.operation("a")->output(0);
  const Output ids = graph.op("HashIds", {graph.int_vector({1, 2})}).attr("num_buckets", 5);
  const Output sum = graph.op("AddV2", {a, graph.op("Cast", {ids}).attr("DstT", DType::kFloat32)});
  const Output named = graph.op("Identity", {sum}).named(name);
  graph.add_to_collection(collection_keys::kLosses, named);
}

std::vector<std::string> nodes_of(const std::string& meta_graph) {
  const MetaGraphDef meta = read_meta_graph(meta_graph, "a meta graph");
  std::vector<std::string> nodes;
  for (NodeDef& node : read_graph_def(meta.graph_def, "its graph").nodes) {
    GraphDef one;
    one.nodes.push_back(std::move(node));
    nodes.push_back(write_graph_def(one));
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

void check_same(GraphExport& incremental, const Graph& graph) {
  GraphExport complete(graph);
  CHECK(incremental.graph_def() == complete.graph_def());
  CHECK(incremental.fingerprint() == complete.fingerprint());
  CHECK(incremental.graph_text() == complete.graph_text());
  CHECK(nodes_of(incremental.meta_graph()) == nodes_of(complete.meta_graph()));
  const MetaGraphDef meta = read_meta_graph(incremental.meta_graph(), "a meta graph");
  const MetaGraphDef other = read_meta_graph(complete.meta_graph(), "another");
  CHECK(meta.op_list == other.op_list);
  CHECK(meta.saver_def->restore_op_name == other.saver_def->restore_op_name);
  CHECK_EQ(meta.collections.size(), other.collections.size());
  for (const auto& entry : meta.collections) {
    CHECK(entry.second.strings == other.collections.at(entry.first).strings);
  }
}

}  // namespace

TEST(graph_export_of_a_growing_graph) {
  const auto graph = std::make_shared<Graph>();
  add_variable(*graph, "a");
  GraphExport exported(*graph);
  check_same(exported, *graph);
  add_sum(*graph, "behind");
  check_same(exported, *graph);
  add_variable(*graph, "b");  // the exported saver must now also save this variable
  check_same(exported, *graph);
  add_sum(*graph, "save");  // has the same name as the saver's scope
  graph->finalize();
  check_same(exported, *graph);
  check_same(exported, *graph);
}

TEST(graph_export_is_shared_by_its_users) {
  const auto graph = std::make_shared<Graph>();
  add_variable(*graph, "a");
  GraphExport& exported = GraphExport::of(*graph);
  const std::string before = exported.graph_def();
  CHECK(&GraphExport::of(*graph) == &exported);
  add_sum(*graph, "behind");
  CHECK(GraphExport::of(*graph).graph_def() != before);
}
