// Tests the import of GraphDefs: round trips, errors that name nodes, frozen graphs, savers in
// graphs.
#include "base/complexity_counter.h"
#include "graph/graph.h"
#include "graph/lowering.h"
#include "graph/variable.h"
#include "import/import_graph.h"
#include "interrupts_test.h"
#include "io/graphs/graph_def.h"
#include "io/graphs/meta_graph.h"
#include "session/plan.h"
#include "session/session.h"
#include "test.h"
#include "training/export_saver.h"
#include "training/freeze.h"
#include "training/import_meta_graph.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

std::shared_ptr<Graph> graph_with_variable(bool is_resource) {
  auto graph = std::make_shared<Graph>();
  VariableOptions options;
  options.use_resource = is_resource;
  const VariablePtr w =
      make_variable(*graph, graph->scalar(DType::kFloat32, 3, "three"), "w", options);
  const Output x =
      graph->op("Placeholder").attr("dtype", DType::kFloat32).attr("shape", Shape()).named("x");
  graph->op("Mul", {w->snapshot, x}).named("y").build();
  return graph;
}

std::string error_message(const std::function<void()>& run) {
  try {
    run();
    return "";
  } catch (const Error& error) {
    return error.message();
  }
}

NodeDef make_node(const std::string& name, const std::string& op, std::vector<std::string> inputs) {
  NodeDef node;
  node.name = name;
  node.op = op;
  node.inputs = std::move(inputs);
  return node;
}

NodeDef const_node(const std::string& name,
                   float value,
                   std::vector<std::string> control_inputs = {}) {
  NodeDef node = make_node(name, "Const", std::move(control_inputs));
  Tensor tensor(DType::kFloat32, Shape());
  tensor.data<float>()[0] = value;
  node.attrs.set("value", tensor);
  node.attrs.set("dtype", DType::kFloat32);
  return node;
}
NodeDef placeholder_node(const std::string& name, DType dtype) {
  NodeDef node = make_node(name, "Placeholder", {});
  node.attrs.set("dtype", dtype);
  node.attrs.set("shape", Shape());
  return node;
}
// Returns cond(p, cond(q, x + 1, x * 2), x - 5), as TensorFlow 1.x writes it.
GraphDef nested_conditionals() {
  GraphDef def;
  def.nodes = {placeholder_node("p", DType::kBool),
               placeholder_node("q", DType::kBool),
               placeholder_node("x", DType::kFloat32),
               make_node("c/Switch", "Switch", {"p", "p"}),
               make_node("c/t", "Identity", {"c/Switch:1"}),
               make_node("c/f", "Identity", {"c/Switch"}),
               make_node("c/pred_id", "Identity", {"p"}),
               make_node("c/x", "Switch", {"x", "c/pred_id"}),
               make_node("c/q", "Switch", {"q", "c/pred_id"}),
               make_node("c/c/Switch", "Switch", {"c/q:1", "c/q:1"}),
               make_node("c/c/t", "Identity", {"c/c/Switch:1"}),
               make_node("c/c/pred_id", "Identity", {"c/q:1"}),
               make_node("c/c/x", "Switch", {"c/x:1", "c/c/pred_id"}),
               const_node("c/c/one", 1, {"^c/c/t"}),
               make_node("c/c/Add", "Add", {"c/c/x:1", "c/c/one"}),
               const_node("two", 2),
               make_node("c/c/two", "Switch", {"c/two:1", "c/c/pred_id"}),
               make_node("c/two", "Switch", {"two", "c/pred_id"}),
               make_node("c/c/Mul", "Mul", {"c/c/x", "c/c/two"}),
               make_node("c/c/Merge", "Merge", {"c/c/Mul", "c/c/Add"}),
               const_node("c/five", 5, {"^c/f"}),
               make_node("c/Sub", "Sub", {"c/x", "c/five"}),
               make_node("c/Merge", "Merge", {"c/Sub", "c/c/Merge"})};
  return def;
}
bool contains(const std::string& message, const char* part) {
  return message.find(part) != std::string::npos;
}
std::string import_error(const GraphDef& def) {
  return error_message([&] {
    Graph graph;
    GraphImporter(graph, def, {}).import_all();
  });
}

}  // namespace

TEST(import_graph_converts_switches_to_conditionals) {
  for (const std::string prefix : {"", "in/"}) {
    auto graph = std::make_shared<Graph>();
    GraphImporter importer(*graph, nested_conditionals(), {prefix, {}});
    importer.import({"c/Merge"});
    const Output y = importer.tensor("c/Merge:0");
    CHECK_EQ(y.name(), prefix + "c/Merge:0");
    Session session(graph);
    for (const bool p : {false, true}) {
      for (const bool q : {false, true}) {
        Tensor x(DType::kFloat32, Shape()), p_value(DType::kBool, Shape()),
            q_value(DType::kBool, Shape());
        x.data<float>()[0] = 7;
        p_value.data<bool>()[0] = p;
        q_value.data<bool>()[0] = q;
        const std::vector<Tensor> values = session.run({y}, {{importer.tensor("x:0"), x},
                                                             {importer.tensor("p:0"), p_value},
                                                             {importer.tensor("q:0"), q_value}});
        CHECK_EQ(values[0].data<float>()[0], p ? (q ? 8 : 14) : 2);
      }
    }
    CHECK(contains(error_message([&] { importer.tensor("c/c/Add:0"); }), "inside a conditional"));
  }
}

TEST(import_graph_rejects_incomplete_conditionals) {
  GraphDef def = nested_conditionals();
  def.nodes.back().inputs = {"c/Sub", "c/five"};
  CHECK(contains(import_error(def), "does not join the two branches"));
  def.nodes.back().inputs = {"c/Sub"};
  CHECK(contains(import_error(def), "does not join the two branches"));
  def.nodes.back() = make_node("c/Merge", "Add", {"c/Sub", "c/c/Merge"});
  CHECK(contains(import_error(def), "different branches"));
  def.nodes.back() = make_node("y", "Identity", {"c/x:2"});
  CHECK(contains(import_error(def), "no output ':2'"));
  def.nodes.back() = make_node("y", "Switch", {"x"});
  CHECK(contains(import_error(def), "no predicate"));
  // Rejects a stateful node in a conditional with two results, because it would run once for each.
  def = nested_conditionals();
  NodeDef random = make_node("c/random", "RandomUniform", {"c/shape"});
  random.attrs.set("dtype", DType::kFloat32);
  NodeDef shape = const_node("c/shape", 0, {"^c/f"});
  shape.attrs.set("value", Tensor(DType::kInt32, Shape{0}));
  shape.attrs.set("dtype", DType::kInt32);
  def.nodes.insert(
      def.nodes.end(),
      {shape, random, make_node("c/m2", "Merge", {"c/random", "c/t2"}),
       make_node("c/m3", "Merge", {"c/random", "c/t2"}), const_node("c/t2", 1, {"^c/t"})});
  CHECK(contains(import_error(def), "would run twice"));
  // Rejects a conditional that is nested too deeply.
  def = GraphDef();
  def.nodes = {placeholder_node("x", DType::kFloat32), placeholder_node("p", DType::kBool)};
  std::string from = "x";
  for (int i = 0; i < 60; ++i) {
    const std::string name = str_cat("s", i);
    def.nodes.push_back(make_node(name, "Switch", {from, "p"}));
    from = name + ":1";
  }
  CHECK(contains(import_error(def), "deep"));
}

TEST(import_graph_round_trip) {
  const auto from = graph_with_variable(true);
  const std::string bytes = write_graph_def(make_graph_def(*from));
  Graph to;
  GraphImporter(to, read_graph_def(bytes, "test"), {}).import_all();
  CHECK_EQ(write_graph_def(make_graph_def(to)).size(), bytes.size());
  CHECK_EQ(to.operations().size(), from->operations().size());
}

TEST(import_graph_into_a_scope_with_input_map) {
  const auto from = graph_with_variable(false);
  auto to = std::make_shared<Graph>();
  ImportOptions options;
  options.prefix = "in/";
  options.input_map["x:0"] = to->scalar(DType::kFloat32, 5, "five");
  options.input_map["unknown:0"] = options.input_map["x:0"];
  GraphImporter importer(*to, make_graph_def(*from), options);
  importer.import({"y"});
  CHECK_EQ(importer.tensor("y:0").name(), "in/y:0");
  CHECK(importer.unused_inputs() == (std::vector<std::string>{"unknown:0"}));
  CHECK(to->find_operation("in/x") == nullptr);
}

TEST(import_graph_names_missing_ops) {
  GraphDef def;
  def.nodes = {make_node("a", "NoSuchOp", {}), make_node("b", "NoOp", {"^a"}),
               make_node("c", "NoOp", {})};
  Graph graph;
  GraphImporter importer(graph, def, {});
  const std::string message = error_message([&] { importer.import({"b"}); });
  CHECK(message.find("Op type 'NoSuchOp' (node 'a')") != std::string::npos);
  CHECK_EQ(graph.operations().size(), 0u);
  importer.import({"c"});  // does not depend on the missing op
  CHECK_EQ(graph.operations().size(), 1u);
}

TEST(import_graph_rejects_loops_and_missing_inputs) {
  GraphDef def;
  def.nodes = {make_node("a", "NoOp", {"^b"}), make_node("b", "NoOp", {"^a"}),
               make_node("c", "NoOp", {"^nowhere"})};
  Graph graph;
  GraphImporter importer(graph, def, {});
  CHECK(error_message([&] { importer.import({"a"}); }).find("loop") != std::string::npos);
  CHECK(error_message([&] { importer.import({"c"}); }).find("'nowhere'") != std::string::npos);
}

TEST(freeze_replaces_variables_by_constants) {
  for (const bool is_resource : {false, true}) {
    const auto graph = graph_with_variable(is_resource);
    Session session(graph);
    session.run(variables_in(*graph, "variables")[0]->initializer);
    const GraphDef frozen = freeze(session, make_graph_def(*graph), {"y"});
    for (const NodeDef& node : frozen.nodes) CHECK(node.op.find("Var") == std::string::npos);
    auto to = std::make_shared<Graph>();
    GraphImporter(*to, frozen, {}).import_all();
    Session frozen_session(to);
    const auto y = frozen_session.run({Fetch(to->tensor("y:0"))},
                                      {{to->tensor("x:0"), Tensor::scalar<float>(2)}});
    CHECK_EQ(y[0].number_at(0), 6.0);
  }
}

TEST(import_meta_graph_restores_variables) {
  const auto from = graph_with_variable(true);
  MetaGraphDef meta_graph;
  meta_graph.collections = collection_defs(*from);
  meta_graph.saver_def = add_saver(*from, exported_saveables_in(*from));
  meta_graph.graph_def = write_graph_def(make_graph_def(*from));
  const MetaGraphDef read = read_meta_graph(write_meta_graph(meta_graph), "test");
  CHECK_EQ(read.saver_def->restore_op_name, "save/restore_all");
  auto to = std::make_shared<Graph>();
  import_meta_graph(*to, read, "", "test");
  const auto variables = variables_in(*to, collection_keys::kGlobalVariables);
  CHECK_EQ(variables.size(), 1u);
  Session session(to);
  session.run(variables[0]->initializer);
  CHECK_EQ(session.value(*variables[0]).number_at(0), 3.0);
}

TEST(saver_ops_save_and_restore_a_graph) {
  const auto graph = graph_with_variable(true);
  const SaverDef saver = add_saver(*graph, exported_saveables_in(*graph));
  const VariablePtr w = variables_in(*graph, "variables")[0];
  const std::string folder = runhooks_test::temporary_folder();
  Session session(graph);
  session.run(w->initializer);
  const Tensor prefix = Tensor::string_scalar(folder + "/model");
  const Output path = graph->tensor(saver.filename_tensor_name);
  session.run({Fetch(graph->tensor(saver.save_tensor_name))}, {{path, prefix}});
  session.assign(*w, Tensor::scalar<float>(0));
  session.run({Fetch(graph->operation(saver.restore_op_name))}, {{path, prefix}});
  CHECK_EQ(session.value(*w).number_at(0), 3.0);
}

namespace {

GraphDef graph_with_op(const std::string& op) {
  const OpDef& def = find_op(op);
  GraphDef graph;
  std::vector<std::string> inputs;
  NodeDef node = make_node("scope/acts", op, {});
  for (const AttrDef& attr : def.attrs) {
    if (attr.type == "list(type)") node.attrs.set(attr.name, std::vector<DType>{DType::kFloat32});
  }
  for (const ArgDef& arg : def.inputs) {
    const std::string name = "in/" + arg.name;
    graph.nodes.push_back(
        placeholder_node(name, arg.dtype == DType::kInvalid ? DType::kFloat32 : arg.dtype));
    node.inputs.push_back(name);
  }
  graph.nodes.push_back(node);
  return graph;
}

// Returns the error message if an import with these rights rejects a node's side effects, otherwise
// "".
std::string side_effect_error(const GraphDef& def, ImportRights rights) {
  try {
    Graph graph;
    ImportOptions options;
    options.rights = rights;
    GraphImporter(graph, def, options).import_all();
  } catch (const Error& error) {
    if (error.code() == Code::kPermissionDenied) return error.message();
  }
  return "";
}

uint64_t import_work(const GraphDef& def) {
  const uint64_t before = pass_work_count();
  Graph graph;
  GraphImporter(graph, def, {}).import_all();
  return pass_work_count() - before;
}

// Returns a graph of n Switches whose predicate is the end of a chain of n Identities.
GraphDef chain_of_predicates(int n) {
  GraphDef def;
  def.nodes = {placeholder_node("p", DType::kBool), placeholder_node("x", DType::kFloat32)};
  for (int i = 0; i < n; ++i) {
    def.nodes.push_back(
        make_node(str_cat("p", i), "Identity", {i == 0 ? "p" : str_cat("p", i - 1)}));
  }
  for (int i = 0; i < n; ++i) {
    def.nodes.push_back(make_node(str_cat("s", i), "Switch", {"x", str_cat("p", n - 1)}));
  }
  return def;
}

// Returns a graph of n conditionals in parallel.
GraphDef parallel_conditionals(int n) {
  GraphDef def;
  def.nodes = {placeholder_node("p", DType::kBool), placeholder_node("x", DType::kFloat32)};
  for (int i = 0; i < n; ++i) {
    const std::string name = str_cat("c", i);
    def.nodes.push_back(make_node(name + "/s", "Switch", {"x", "p"}));
    def.nodes.push_back(make_node(name + "/t", "Neg", {name + "/s:1"}));
    def.nodes.push_back(make_node(name + "/f", "Identity", {name + "/s"}));
    def.nodes.push_back(make_node(name + "/m", "Merge", {name + "/f", name + "/t"}));
  }
  return def;
}

}  // namespace

// Reads the side effects of each op from its definition, so new ops are covered automatically.
TEST(import_graph_rejects_side_effects_by_name) {
  int writers = 0, readers = 0, callers = 0;
  for (const auto& [type, def] : all_ops()) {
    const bool writes = def.writes_files, calls = def.is_host_function, reads = def.reads_files;
    writers += writes;
    readers += reads;
    callers += calls;
    const bool always_needs_rights = writes || calls;
    const std::string name = str_cat("Node 'scope/acts' (", type, ")");
    if (!always_needs_rights && !reads) continue;
    const GraphDef graph = graph_with_op(type);
    CHECK(contains(side_effect_error(graph, ImportRights::kNone), name.c_str()));
    CHECK_EQ(contains(side_effect_error(graph, ImportRights::kReadFiles), name.c_str()),
             always_needs_rights);
    CHECK_EQ(side_effect_error(graph, ImportRights::kAll), "");
  }
  CHECK(writers >= 2 && readers >= 3 && callers >= 2);
}

TEST(import_graph_rejects_side_effects_in_a_branch) {
  GraphDef def = parallel_conditionals(1);
  NodeDef py_func = graph_with_op("PyFunc").nodes.back();
  py_func.inputs = {"c0/s:1"};
  py_func.attrs.set("token", std::string("r_function"));
  def.nodes.insert(def.nodes.begin() + 3, py_func);
  def.nodes[4].inputs = {"scope/acts:0"};
  CHECK(contains(side_effect_error(def, ImportRights::kReadFiles),
                 "Node 'scope/acts' (PyFunc) calls a function"));
}

// Every meta graph contains save and restore ops. They are skipped instead of rejected, as long as
// only the saver needs them.
TEST(import_meta_graph_skips_savers) {
  const auto from = graph_with_variable(true);
  MetaGraphDef meta_graph;
  meta_graph.saver_def = add_saver(*from, exported_saveables_in(*from));
  meta_graph.graph_def = write_graph_def(make_graph_def(*from));
  for (const bool trust : {false, true}) {
    Graph to;
    import_meta_graph(to, meta_graph, "", "test", trust ? ImportRights::kAll : ImportRights::kNone);
    CHECK_EQ(to.find_operation("save/SaveV2") != nullptr, trust);
    CHECK_EQ(to.find_operation("save/RestoreV2") != nullptr, trust);
    CHECK(to.find_operation("y") != nullptr);
  }
  const std::string used =
      from->op("Identity", {from->tensor("save/RestoreV2:0")}).named("used").build()->name();
  meta_graph.graph_def = write_graph_def(make_graph_def(*from));
  Graph to;
  CHECK(contains(error_message([&] { import_meta_graph(to, meta_graph, "", "test"); }),
                 "Node 'save/RestoreV2' (RestoreV2) reads files"));
  meta_graph.saver_def.reset();
  CHECK(contains(error_message([&] { import_meta_graph(to, meta_graph, "", "test"); }),
                 "save/SaveV2"));
}

TEST(import_graph_is_linear) {
  for (const auto& build : {chain_of_predicates, parallel_conditionals}) {
    const uint64_t small = import_work(build(100)), large = import_work(build(200));
    CHECK(small > 100);
    CHECK(large < small * 9 / 4);
  }
}

TEST(import_graph_limits_sizes) {
  GraphDef def;
  def.nodes = {placeholder_node("x", DType::kFloat32)};
  NodeDef axis = const_node("axis", 0);
  axis.attrs.set("value", Tensor::scalar<int32_t>(0));
  axis.attrs.set("dtype", DType::kInt32);
  def.nodes.push_back(axis);
  def.nodes[0].attrs.set("shape", Shape::unknown());
  for (int i = 0; i < 30; ++i) {
    NodeDef split = make_node(str_cat("split", i), "Split", {"axis", "x"});
    split.attrs.set("num_split", int64_t{100000});
    def.nodes.push_back(split);
  }
  CHECK(contains(import_error(def), "outputs"));
}

TEST(reading_planning_and_lowering_graphs_can_be_interrupted) {
  GraphDef def;
  def.nodes = {placeholder_node("x0", DType::kFloat32)};
  for (int i = 1; i < 2000; ++i) {
    def.nodes.push_back(make_node(str_cat("x", i), "Neg", {str_cat("x", i - 1)}));
  }
  const std::string bytes = write_graph_def(def);
  auto graph = std::make_shared<Graph>();
  GraphImporter(*graph, def, {}).import_all();
  CHECK(can_be_stopped([&] { read_graph_def(bytes, "test"); }));
  CHECK(can_be_stopped([&] {
    Graph other;
    GraphImporter(other, def, {}).import_all();
  }));
  CHECK(can_be_stopped([&] { ordered_operations({Fetch(graph->tensor("x1999:0"))}, {}); }));
  CHECK(can_be_stopped([&] { lowered_graph(*graph); }));
  // If a run is interrupted while the session plans it, the next run plans again.
  Session session(graph);
  const Feeds feeds = {{graph->tensor("x0:0"), Tensor::scalar<float>(1)}};
  CHECK(can_be_stopped([&] { session.run({Fetch(graph->tensor("x1999:0"))}, feeds); }));
  CHECK_EQ(session.run({Fetch(graph->tensor("x1999:0"))}, feeds)[0].number_at(0), -1.0);
}
