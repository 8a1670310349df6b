// Tests the lowering of our ops to TensorFlow's ops. The lowered ops compute the same values and
// keep names, collections and types.
#include <algorithm>

#include "base/complexity_counter.h"
#include "graph/lowering.h"
#include "graph/variable.h"
#include "io/graphs/graph_def.h"
#include "io/graphs/meta_graph.h"
#include "op_example.h"
#include "session/session.h"
#include "test.h"
#include "training/optimizer.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

// Checks that the graph contains only TensorFlow's ops, which have no lowering function.
void check_no_op_needs_lowering(const Graph& graph) {
  for (const auto& op : graph.operations()) CHECK(!op->def().lower_fn);
}

void initialize_tables(Session& session, const Graph& graph) {
  for (const CollectionItem& item : graph.collection(collection_keys::kTableInitializers)) {
    session.run(std::get<Operation*>(item));
  }
}

void check_same(const Tensor& actual, const Tensor& expected) {
  CHECK(actual.dtype() == expected.dtype());
  CHECK_EQ(actual.shape(), expected.shape());
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    if (is_floating(expected.dtype())) {
      const double x = expected.number_at(i);
      CHECK_NEAR(actual.number_at(i), x, 1e-12 * (1 + std::fabs(x)));
    } else {
      CHECK(actual.number_at(i) == expected.number_at(i));
    }
  }
}

// Sums the rows of a gradient by index, because the order of its rows does not matter.
Tensor dense_rows(const Tensor& values, const Tensor& indices) {
  constexpr int64_t kRows = 16;
  const int64_t n = indices.num_elements(), width = n > 0 ? values.num_elements() / n : 0;
  Tensor dense = Tensor::zeros(DType::kFloat64, Shape{kRows, width + 1});
  for (int64_t i = 0; i < n; ++i) {
    double* row = dense.data<double>() + indices.integers()[static_cast<size_t>(i)] * (width + 1);
    for (int64_t j = 0; j < width; ++j) row[j] += values.number_at(i * width + j);
    row[width] += 1;  // the number of occurrences
  }
  return dense;
}

void check_example(OpExample& example) {
  const auto lowered = lowered_graph(*example.graph);
  check_no_op_needs_lowering(*lowered);
  Session original_session(example.graph), lowered_session(lowered);
  initialize_tables(lowered_session, *lowered);
  Feeds feeds, lowered_feeds;
  for (size_t i = 0; i < example.placeholders.size(); ++i) {
    feeds.emplace_back(example.placeholders[i], example.values[i]);
    lowered_feeds.emplace_back(lowered->tensor(example.placeholders[i].name()), example.values[i]);
  }
  std::vector<Fetch> fetches, lowered_fetches;
  const int n = example.op->num_outputs();
  for (int i = 0; i < n; ++i) {
    fetches.push_back(example.op->output(i));
    lowered_fetches.push_back(lowered->tensor(example.op->output(i).name()));
  }
  const std::vector<Tensor> expected = original_session.run(fetches, feeds);
  const std::vector<Tensor> actual = lowered_session.run(lowered_fetches, lowered_feeds);
  if (is_floating(expected.back().dtype())) {
    for (size_t i = 0; i < expected.size(); ++i) check_same(actual[i], expected[i]);
    return;
  }
  if (n == 1) return check_same(actual[0], expected[0]);
  for (size_t i = 0; i < expected.size() / 2; ++i) {
    const size_t j = i + expected.size() / 2;
    check_same(dense_rows(actual[i], actual[j]), dense_rows(expected[i], expected[j]));
  }
}

}  // namespace

TEST(lowering_keeps_values) {
  const unsigned seed = 20260103;
  std::mt19937 random(seed);
  int tested = 0;
  for (const auto& entry : all_ops()) {
    if (!entry.second.lower_fn) continue;
    CHECK(entry.second.is_stateful || !entry.second.examples.empty());
    for (const std::string& text : entry.second.examples) {
      context() = str_cat(entry.first, " ", text, " (seed ", seed, ")");
      OpExample example = build_example(entry.second, text, DType::kFloat64, random);
      check_example(example);
      ++tested;
    }
  }
  CHECK(tested > 20);
}

TEST(lowering_keeps_names_types_and_control_inputs) {
  const auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  Operation* first = g.op("NoOp").named("first");
  const Output x = g.op("Placeholder").attr("dtype", DType::kInt64).attr("shape", Shape{-1, 1});
  Output ids;
  {
    const ControlDependencies after(g, {first});
    ids = g.op("HashIds", {x}).attr("num_buckets", 5).named("ids");
  }
  // The lowering of `ids` would give this name to one of its operations.
  const Output conflicting_name = g.op("Identity", {ids}).named("ids/AsString");
  g.add_to_collection("of mine", ids);
  const auto lowered = lowered_graph(g);
  check_no_op_needs_lowering(*lowered);
  CHECK_EQ(lowered->tensor("ids:0").shape(), ids.shape());
  CHECK_EQ(lowered->operation("ids/AsString")->type(), "Identity");
  CHECK_EQ(lowered->operation("ids/AsString_1")->type(), "AsString");
  CHECK(std::get<Output>(lowered->collection("of mine")[0]) == lowered->tensor("ids:0"));
  CHECK(lowered->operation("ids")->control_inputs() ==
        std::vector<Operation*>{lowered->operation("first")});
  CHECK(conflicting_name.name() == lowered->tensor("ids/AsString:0").name());
}

// After additions to a graph, either the lowered graph is extended (true), or the whole graph must
// be lowered again (false).
TEST(lowering_of_a_growing_graph) {
  const auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const auto serialize = [](const Graph& lowered) {
    GraphDefOptions options;
    options.add_shapes = true;
    std::string bytes = write_graph_def(make_graph_def(lowered, options));
    for (const auto& entry : collection_defs(lowered)) {
      bytes += entry.first + ": " + str_join(entry.second.strings, " ");
    }
    return bytes;
  };
  const Output x = g.op("Placeholder").attr("dtype", DType::kInt64).attr("shape", Shape{-1, 1});
  Output ids = g.op("HashIds", {x}).attr("num_buckets", 5).named("ids");
  Operation* first = g.group({}, "first");
  auto lowering = std::make_unique<IncrementalLowering>(g);
  const auto check_extends = [&](bool extends) {
    CHECK(lowering->extend() == extends);
    if (!extends) lowering = std::make_unique<IncrementalLowering>(g);
    CHECK(serialize(lowering->lowered()) == serialize(*lowered_graph(g)));
  };
  check_extends(true);  // there are no new ops
  ids = g.op("HashIds", {g.op("Identity", {ids})}).attr("num_buckets", 7).named("ids");
  g.add_to_collection("of mine", ids);
  check_extends(true);
  g.add_to_collection("of mine", x);
  g.add_to_collection(collection_keys::kLocalInitOp, g.group({first}, "init"));
  check_extends(true);
  g.op("Identity", {ids}).named("ids/AsString").build();  // takes a name that the lowering has used
  check_extends(false);
  x.op->set_output_shape(0, Shape{3, 1});
  check_extends(false);
  g.add_to_collection(collection_keys::kLocalInitOp, first);
  check_extends(false);
  g.add_to_collection(collection_keys::kTrainOp, first);
  check_extends(false);
  g.op("Identity", {ids}).named("last").build();
  check_extends(true);
  g.op("Identity", {ids}).named("one_more").build();
  const uint64_t before = pass_work_count();
  CHECK(lowering->extend());
  CHECK_EQ(pass_work_count() - before, uint64_t{1});  // visits only its own input
}

TEST(lowered_tables_are_initialized_with_the_local_variables) {
  const auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Output words = g.constant(Tensor::strings({2}, {"a", "b"}));
  const Output x = g.constant(Tensor::strings({4}, {"b", "", "c", "a"}));
  const Output ids = g.op("VocabularyIds", {x, words}).attr("num_oov_buckets", 3).named("ids");
  g.add_to_collection(collection_keys::kLocalInitOp, g.group({}, "init"));
  const auto lowered = lowered_graph(g);
  CHECK_EQ(lowered->operation("init")->control_inputs().size(), size_t{1});
  Session original_session(graph), lowered_session(lowered);
  lowered_session.run(lowered->operation("init"));
  check_same(lowered_session.run({lowered->tensor("ids:0")}), original_session.run({ids}));
}

TEST(lowered_identity_column_rejects_ids_out_of_range) {
  const auto graph = std::make_shared<Graph>();
  const Output x = graph->constant(Tensor::vector<int64_t>({1, 7}));
  graph->op("IdentityIds", {x}).attr("num_buckets", 3).attr("column", "cyl").named("ids").build();
  const auto lowered = lowered_graph(*graph);
  Session session(lowered);
  CHECK_THROWS(session.run({lowered->tensor("ids:0")}), Code::kInvalidArgument, "Column 'cyl'");
}

namespace {

Output value_of(Graph& g, const VariablePtr& w) {
  if (!w->is_resource) return w->snapshot;
  return g.op("ReadVariableOp", {w->handle}).attr("dtype", w->dtype);
}

// Returns a loss with a dense gradient, or with a sparse gradient that has rows 2, 0 and 2.
Output loss_of(Graph& g, Output value, bool is_sparse) {
  if (!is_sparse) {
    const Output target = g.constant(Tensor::of<float>(Shape{3, 2}, {1, 2, -1, 0, 3, 1}));
    return g.op("L2Loss", {g.op("Sub", {value, target})});
  }
  const Output indices = g.constant(Tensor::of<int64_t>(Shape{3, 1}, {2, 0, 2}));
  const Output rows = g.op("FusedEmbeddingLookup", {value, indices})
                          .attr("num_params", 1)
                          .attr("N", 0)
                          .attr("combiner", "sum");
  const Output target = g.constant(Tensor::of<float>(Shape{3, 2}, {1, 2, -1, 0, 3, 1}));
  return g.op("L2Loss", {g.op("Sub", {rows, target})});
}

void check_steps(const std::shared_ptr<Graph>& graph, Operation* step) {
  const auto lowered = lowered_graph(*graph);
  check_no_op_needs_lowering(*lowered);
  Session original_session(graph), lowered_session(lowered);
  const auto variables = variables_in(*graph, collection_keys::kGlobalVariables);
  for (const VariablePtr& variable : variables) {
    original_session.run(variable->initializer);
    lowered_session.run(lowered->operation(variable->initializer->name()));
  }
  for (int i = 0; i < 3; ++i) {
    original_session.run(step);
    lowered_session.run(lowered->operation(step->name()));
    for (const VariablePtr& variable : variables) {
      const Tensor expected = original_session.run({variable->snapshot});
      const Tensor actual = lowered_session.run({lowered->tensor(variable->snapshot.name())});
      for (int64_t k = 0; k < expected.num_elements(); ++k) {
        CHECK_NEAR(actual.number_at(k), expected.number_at(k), 1e-6);
      }
    }
  }
}

}  // namespace

namespace {

// Returns only the required arguments.
Args required_arguments(const Factory<Optimizer>::Entry& optimizer) {
  Args args("the optimizer");
  for (const ArgSpec& argument : optimizer.arguments()) {
    if (!argument.fallback.empty()) continue;
    args.set(argument.name, Value::of(argument.name == "learning_rate" ? 0.1 : 0.01));
  }
  args.set("learning_rate", Value::of(0.1));
  return args;
}

}  // namespace

// Each optimizer takes three steps in the original graph and in the lowered one.
TEST(lowered_updates_take_the_same_steps) {
  for (const auto& optimizer : Factory<Optimizer>::instance().entries()) {
    const std::string& name = optimizer.type;
    // The update rule of "Optimizer" is an R function (test-optimizer_own.R).
    if (name == "Optimizer") continue;
    for (const bool is_resource : {false, true}) {
      for (const bool is_sparse : {false, true}) {
        context() =
            str_cat(name, is_resource ? " resource" : " reference", is_sparse ? " rows" : "");
        const auto graph = std::make_shared<Graph>();
        VariableOptions options;
        options.use_resource = is_resource;
        options.initializer = constant_initializer(0.5);
        const VariablePtr w = graph->variables().get("w", Shape{3, 2}, options);
        const Output loss = loss_of(*graph, value_of(*graph, w), is_sparse);
        const auto optimizer_object = make_optimizer(name, required_arguments(optimizer));
        check_steps(graph, optimizer_object->minimize(*graph, loss,
                                                      get_or_create_global_step(*graph), {w}));
      }
    }
  }
}

// TensorFlow runs unordered operations in any order. An update must not run before the gradient of
// another layer that needs the old value.
TEST(lowered_updates_wait_for_readers_of_the_variable) {
  const auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  VariableOptions options;
  options.initializer = constant_initializer(0.5);
  const VariablePtr first = g.variables().get("first", Shape{2, 2}, options);
  const VariablePtr second = g.variables().get("second", Shape{2, 2}, options);
  const Output x = g.constant(Tensor::of<float>(Shape{1, 2}, {1, 2}));
  const Output y = g.op("MatMul", {g.op("MatMul", {x, first->snapshot}), second->snapshot});
  Args args("the optimizer");
  args.set("learning_rate", Value::of(0.1));
  make_optimizer("SGD", args)->minimize(g, g.op("L2Loss", {y}), nullptr, {first, second});
  const auto lowered = lowered_graph(g);
  const Output value = lowered->tensor(second->snapshot.name());
  int readers = 0;
  for (const auto& update : lowered->operations()) {
    if (update->type() != "ApplyGradientDescent") continue;
    if (update->input(0).op->name() != "second") continue;
    for (const auto& reader : lowered->operations()) {
      const auto& inputs = reader->inputs();
      if (std::find(inputs.begin(), inputs.end(), value) == inputs.end()) continue;
      const auto& before = update->control_inputs();
      CHECK(std::find(before.begin(), before.end(), reader.get()) != before.end());
      ++readers;
    }
  }
  CHECK_EQ(readers, 2);  // the product and its gradient read the variable
}

// The order of control dependencies must not depend on the addresses of operations.
TEST(lowered_updates_wait_for_readers_in_creation_order) {
  const auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  VariableOptions options;
  options.initializer = constant_initializer(0.5);
  const VariablePtr w = g.variables().get("w", Shape{}, options);
  std::vector<Output> read;
  for (int i = 0; i < 40; ++i) read.push_back(g.op("Exp", {w->snapshot}));
  Args args("the optimizer");
  args.set("learning_rate", Value::of(0.1));
  make_optimizer("SGD", args)->minimize(g, g.op("AddN", read), nullptr, {w});
  size_t num_control_inputs = 0;
  const auto lowered = lowered_graph(g);
  for (const auto& update : lowered->operations()) {
    if (update->type() != "ApplyGradientDescent") continue;
    const auto& before = update->control_inputs();
    num_control_inputs = before.size();
    const auto is_earlier = [](const Operation* a, const Operation* b) {
      return a->id() < b->id();
    };
    CHECK(std::is_sorted(before.begin(), before.end(), is_earlier));
  }
  CHECK(num_control_inputs >= 40);
}

TEST(tree_contributions_cannot_be_exported) {
  Graph g;
  const Output trees = g.op("BoostedTreesEnsembleResourceHandleOp");
  const Output bucket = g.constant(Tensor::vector<int32_t>({0, 1}));
  g.op("TreeContributions", {trees, bucket})
      .attr("num_features", 1)
      .attr("columns", std::vector<int64_t>{0})
      .attr("num_columns", 1)
      .named("parts")
      .build();
  CHECK_THROWS(lowered_graph(g), Code::kUnimplemented,
               "'parts' gives the contributions of columns");
}

// Lowering copies known shapes, and infers unknown ones from inputs whose shapes were set later.
TEST(lowering_infers_shapes_that_were_set_later) {
  auto graph = std::make_shared<Graph>();
  const auto placeholder = [&graph](const char* name) -> Output {
    return graph->op("Placeholder")
        .attr("dtype", DType::kFloat32)
        .attr("shape", Shape::unknown())
        .named(name);
  };
  const Output set_later = placeholder("told"), never_set = placeholder("untold");
  const Output one = graph->op("Neg", {set_later}).named("one");
  const Output two = graph->op("Neg", {one}).named("two");
  const Output other = graph->op("Neg", {never_set}).named("other").after({one.op});
  set_later.op->set_output_shape(0, Shape{3});
  CHECK(!two.shape().has_rank());
  const auto lowered = lowered_graph(*graph);
  CHECK_EQ(lowered->tensor("one:0").shape(), Shape{3});
  CHECK_EQ(lowered->tensor("two:0").shape(), Shape{3});
  CHECK(!lowered->tensor("other:0").shape().has_rank());
  const Operation* copy = lowered->operation("other");
  CHECK(&copy->graph() == lowered.get() && copy->input(0) == lowered->tensor("untold:0"));
  CHECK(copy->control_inputs() == std::vector<Operation*>{lowered->operation("one")});
  CHECK_EQ(&copy->attrs().items(), &other.op->attrs().items());
  // The copied name is in use, in lower or upper case.
  CHECK_EQ(lowered->scalar(DType::kFloat32, 1, "Other").name(), "Other_1:0");
}
