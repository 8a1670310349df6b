// The cached export of a graph is current.
#include "graph/variable.h"
#include "io/graphs/meta_graph.h"
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

void check_same(GraphExport& exported, const Graph& graph) {
  GraphExport other(graph);
  CHECK(exported.graph_def() == other.graph_def());
  CHECK(exported.fingerprint() == other.fingerprint());
  CHECK(exported.graph_text() == other.graph_text());
  CHECK(exported.meta_graph() == other.meta_graph());
}

}  // namespace

TEST(graph_export_follows_changes_of_the_graph) {
  const auto graph = std::make_shared<Graph>();
  add_variable(*graph, "a");
  GraphExport exported(*graph);
  check_same(exported, *graph);
  add_sum(*graph, "behind");
  check_same(exported, *graph);
  add_variable(*graph, "b");
  check_same(exported, *graph);
  graph->add_to_collection(collection_keys::kLosses, graph->operation("behind")->output(0));
  check_same(exported, *graph);
}

TEST(graph_export_names_its_saver_uniquely) {
  const auto graph = std::make_shared<Graph>();
  add_variable(*graph, "a");
  add_sum(*graph, "save");
  GraphExport exported(*graph);
  const MetaGraphDef meta = read_meta_graph(exported.meta_graph(), "a meta graph");
  CHECK_EQ(meta.saver_def->restore_op_name, "save_1/restore_all");
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
