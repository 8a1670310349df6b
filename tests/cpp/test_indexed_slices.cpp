// Tests gradients that are IndexedSlices: addition, propagation, conversion to dense tensors, and
// sparse updates.
#include "autodiff/gradients.h"
#include "session/session.h"
#include "test.h"
#include "training/optimizer.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

struct EmbeddingTable {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  VariablePtr variable;
  explicit EmbeddingTable(bool is_resource) {
    VariableOptions options;
    options.initializer = constant_initializer(1);
    options.use_resource = is_resource;
    variable = graph->variables().get("table", Shape{4, 2}, options);
  }
  Output rows(const std::vector<int64_t>& ids) {
    const auto n = static_cast<int64_t>(ids.size());
    const Output indices = graph->constant(Tensor::of<int64_t>(Shape{n, 1}, ids));
    return graph->op("FusedEmbeddingLookup", {variable->snapshot, indices})
        .attr("num_params", 1)
        .attr("N", 0)
        .attr("combiner", "sum")
        .attr("max_norm", 0.0f);
  }
  std::vector<float> run(Output output) {
    Session session(graph);
    session.run(variable->initializer);
    const Tensor value = session.run({output});
    return {value.data<float>(), value.data<float>() + value.num_elements()};
  }
};

Output sum_of(Graph& g, Output x) { return g.op("Sum", {x, g.int_vector({0, 1})}); }

}  // namespace

TEST(indexed_slices_of_several_look_ups_are_concatenated) {
  for (const bool is_resource : {false, true}) {
    EmbeddingTable table(is_resource);
    Graph& g = *table.graph;
    const Output y = g.op("AddN", {sum_of(g, table.rows({0, 2, 2})), sum_of(g, table.rows({2}))});
    const Gradient grad = gradients(g, {y}, {table.variable->handle})[0];
    CHECK(grad.is_indexed_slices());
    const std::vector<float> dense = table.run(dense_gradient(g, grad));
    CHECK(dense == std::vector<float>({1, 1, 0, 0, 3, 3, 0, 0}));
  }
}

TEST(indexed_slices_plus_a_dense_gradient_are_dense) {
  EmbeddingTable table(false);
  Graph& g = *table.graph;
  const Output y =
      g.op("AddN", {sum_of(g, table.rows({1, -1})), sum_of(g, table.variable->snapshot)});
  const Gradient grad = gradients(g, {y}, {table.variable->handle})[0];
  CHECK(!grad.is_indexed_slices());
  // An example without ids uses row 0, with a gradient of 0, as in TensorFlow.
  CHECK(table.run(grad.values) == std::vector<float>({1, 1, 2, 2, 1, 1, 1, 1}));
}

TEST(indexed_slices_of_a_computed_table_are_dense) {
  EmbeddingTable table(false);
  Graph& g = *table.graph;
  const Output doubled = g.op("Mul", {table.variable->snapshot, g.scalar(DType::kFloat32, 2)});
  const Output indices = g.constant(Tensor::of<int64_t>(Shape{2, 1}, {3, 3}));
  const Output rows = g.op("FusedEmbeddingLookup", {doubled, indices})
                          .attr("num_params", 1)
                          .attr("N", 0)
                          .attr("combiner", "sum")
                          .attr("max_norm", 0.0f);
  const Gradient grad = gradients(g, {sum_of(g, rows)}, {table.variable->handle})[0];
  CHECK(!grad.is_indexed_slices());
  CHECK(table.run(grad.values) == std::vector<float>({0, 0, 0, 0, 0, 0, 4, 4}));
}

TEST(sparse_updates_change_each_row_once) {
  for (const bool is_resource : {false, true}) {
    EmbeddingTable table(is_resource);
    Graph& g = *table.graph;
    Args args("the optimizer");
    args.set("learning_rate", Value::of(1.0));
    const auto optimizer = make_optimizer("Adagrad", args);
    const Output y = g.op("AddN", {sum_of(g, table.rows({2, 2})), sum_of(g, table.rows({2}))});
    Operation* step = optimizer->minimize(g, y, nullptr, {table.variable});
    Session session(table.graph);
    for (const VariablePtr& variable : variables_in(g, collection_keys::kGlobalVariables)) {
      session.run(variable->initializer);
    }
    session.run(step);
    const Tensor value = session.run({table.variable->snapshot});
    // The update is 1 - 3 / sqrt(0.1 + 9), because the three gradients of the row are added first.
    const double updated = 1 - 3 / std::sqrt(9.1);
    for (int i = 0; i < 8; ++i) {
      CHECK_NEAR(value.data<float>()[i], i / 2 == 2 ? updated : 1, 1e-6);
    }
  }
}

TEST(look_up_out_of_range_is_an_error) {
  EmbeddingTable table(false);
  CHECK_THROWS(table.run(table.rows({1, 4})), Code::kInvalidArgument, "is not in [0, 4)");
}
