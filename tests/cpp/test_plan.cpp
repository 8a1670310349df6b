// Tests the guarantees of a session's run: order, values at the time of computation, and no
// repeated work.
#include "ops/state/gradient_helpers.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;

namespace {

std::shared_ptr<Graph> new_graph() { return std::make_shared<Graph>(); }

VariablePtr new_variable(Graph& g, double value, const std::string& name, bool use_resource) {
  VariableOptions options;
  options.use_resource = use_resource;
  return make_variable(g, g.scalar(DType::kFloat32, value), name, options);
}

float number(const Tensor& t) { return *t.data<float>(); }

}  // namespace

TEST(plan_reads_come_before_updates) {
  for (const bool use_resource : {false, true}) {
    auto g = new_graph();
    const VariablePtr w = new_variable(*g, 1, "w", use_resource);
    const char* type = use_resource ? "AssignAddVariableOp" : "AssignAdd";
    // The update is created first, so only the session can order the reads before it.
    Operation* update = g->op(type, {w->handle, g->scalar(DType::kFloat32, 10)});
    const Output twice = add(*g, w->snapshot, w->snapshot);
    Session session(g);
    session.run(w->initializer);
    const auto results = session.run({update, w->snapshot, twice});
    CHECK_EQ(number(results[1]), 1.0f);
    CHECK_EQ(number(results[2]), 2.0f);
    CHECK_EQ(number(session.run(w->snapshot)), 11.0f);
  }
}

TEST(plan_keeps_the_old_value_for_ops_after_an_update) {
  auto g = new_graph();
  const VariablePtr w = new_variable(*g, 1, "w", true);
  const Output old = g->op("ReadVariableOp", {w->handle}).attr("dtype", DType::kFloat32);
  const Output shown = g->op("Identity", {old});
  Operation* update = g->op("AssignAddVariableOp", {w->handle, g->scalar(DType::kFloat32, 10)});
  ControlDependencies after(*g, {update});
  const Output late = add(*g, shown, g->scalar(DType::kFloat32, 0));
  Session session(g);
  session.run(w->initializer);
  for (float expected : {1.0f, 11.0f, 21.0f}) CHECK_EQ(number(session.run(late)), expected);
}

TEST(plan_fetched_values_do_not_change) {
  auto g = new_graph();
  const VariablePtr w = new_variable(*g, 1, "w", false);
  Operation* update = g->op("AssignAdd", {w->handle, g->scalar(DType::kFloat32, 1)});
  Session session(g);
  session.run(w->initializer);
  std::vector<Tensor> results;
  for (int i = 0; i < 3; ++i) results.push_back(session.run({w->snapshot, update})[0]);
  for (int i = 0; i < 3; ++i)
    CHECK_EQ(number(results[static_cast<size_t>(i)]), static_cast<float>(i + 1));
}

TEST(plan_follows_changing_shapes) {
  auto g = new_graph();
  const Output x = g->op("Placeholder").attr("dtype", DType::kFloat32).attr("shape", Shape{-1, 2});
  const Output shape = shape_of(*g, x);
  const Output ones = g->op("Fill", {shape, g->scalar(DType::kFloat32, 1)});
  const Output y = multiply(*g, add(*g, x, ones), g->scalar(DType::kFloat32, 2));
  Session session(g);
  for (int64_t rows : {2, 3, 3, 1, 5, 0, 2}) {
    Tensor value(DType::kFloat32, Shape{rows, 2});
    for (int64_t i = 0; i < value.num_elements(); ++i)
      value.data<float>()[i] = static_cast<float>(i);
    const Tensor result = session.run({y}, {{x, value}})[0];
    CHECK_EQ(result.shape(), (Shape{rows, 2}));
    for (int64_t i = 0; i < value.num_elements(); ++i) {
      CHECK_EQ(result.data<float>()[i], 2 * (static_cast<float>(i) + 1));
    }
  }
}

TEST(plan_reads_parameters_that_are_fed) {
  auto g = new_graph();
  const Output x = g->constant(Tensor::of<float>({2, 2}, {1, 2, 3, 4}));
  const Output axis = g->op("Placeholder").attr("dtype", DType::kInt32).attr("shape", Shape{1});
  const Output sum = g->op("Sum", {x, axis});
  Session session(g);
  for (int32_t a : {0, 1, 0}) {
    const Tensor result = session.run({sum}, {{axis, Tensor::vector<int32_t>({a})}})[0];
    CHECK_EQ(result.data<float>()[0], a == 0 ? 4.0f : 3.0f);
  }
}

// One run caches a value that another run feeds. Alternating runs must not mix them up, and a read
// in the same run as an update must return the old value.
TEST(plan_alternates_with_others) {
  auto g = new_graph();
  const VariablePtr w = new_variable(*g, 1, "w", true);
  const Output results = g->scalar(DType::kFloat32, 2);
  const Output twice = add(*g, results, results);
  const Output sum = add(*g, twice, w->snapshot);
  Operation* update = g->op("AssignAddVariableOp", {w->handle, g->scalar(DType::kFloat32, 10)});
  Session session(g);
  session.run(w->initializer);
  float at = 1;
  for (const float fed : {5, 5, 7, 5}) {
    CHECK_EQ(number(session.run(sum)), 4 + at);
    CHECK_EQ(number(session.run({sum}, {{results, Tensor::scalar<float>(fed)}})[0]), 2 * fed + at);
    CHECK_EQ(number(session.run(sum)), 4 + at);
    const auto results = session.run({update, sum, w->snapshot});
    CHECK_EQ(number(results[1]), 4 + at);
    CHECK_EQ(number(results[2]), at);
    at += 10;
    CHECK_EQ(number(session.value(*w)), at);
  }
}

TEST(plan_skips_unneeded_and_fed_operations) {
  auto g = new_graph();
  const Output x = g->op("Placeholder").attr("dtype", DType::kFloat32).attr("shape", Shape());
  const Output y = add(*g, x, g->scalar(DType::kFloat32, 1));
  const Output z = multiply(*g, y, y);
  Session session(g);
  CHECK_EQ(number(session.run({z}, {{y, Tensor::scalar<float>(3)}})[0]), 9.0f);
  CHECK_EQ(number(session.run({y}, {{y, Tensor::scalar<float>(3)}})[0]), 3.0f);
  CHECK_THROWS(session.run(z), Code::kInvalidArgument, "You must feed a value for placeholder");
}

TEST(plan_rejects_invalid_feeds_and_fetches) {
  auto g = new_graph();
  const Output x = g->op("Placeholder").attr("dtype", DType::kFloat32).attr("shape", Shape{2});
  Session session(g);
  CHECK_THROWS(session.run({x}, {{x, Tensor::vector<float>({1})}}), Code::kInvalidArgument,
               "shape (1,)");
  CHECK_THROWS(session.run({x}, {{x, Tensor::vector<double>({1, 2})}}), Code::kInvalidArgument,
               "float64");
  auto other = new_graph();
  CHECK_THROWS(session.run(other->scalar(DType::kFloat32, 1)), Code::kInvalidArgument,
               "not an element");
  session.close();
  CHECK_THROWS(session.run(x), Code::kFailedPrecondition, "closed Session");
}

TEST(plan_names_the_uninitialized_variable) {
  for (const bool use_resource : {false, true}) {
    auto g = new_graph();
    const VariablePtr w = new_variable(*g, 1, "w", use_resource);
    Session session(g);
    CHECK_THROWS(session.run(w->snapshot), Code::kFailedPrecondition, "uninitialized value w");
    CHECK_THROWS(session.run(w->handle), Code::kFailedPrecondition, "uninitialized value w");
    session.run(w->initializer);
    CHECK_EQ(number(session.run(w->handle)), 1.0f);
  }
}

TEST(plan_errors_name_the_operation) {
  auto g = new_graph();
  NameScope scope(*g, "model");
  const Output x =
      g->op("Placeholder").attr("dtype", DType::kFloat32).attr("shape", Shape::unknown());
  const Output y = g->op("MatMul", {x, x}).named("product");
  Session session(g);
  CHECK_THROWS(session.run({y}, {{x, Tensor::zeros(DType::kFloat32, {2, 3})}}),
               Code::kInvalidArgument, "[MatMul model/product]");
  // Other feeds work after a failed run.
  CHECK_EQ(session.run({y}, {{x, Tensor::zeros(DType::kFloat32, {2, 2})}})[0].shape(),
           (Shape{2, 2}));
}

TEST(plan_is_not_run_again_while_its_results_are_held) {
  auto g = new_graph();
  const VariablePtr w = new_variable(*g, 1, "w", false);
  Session session(g);
  session.run(w->initializer);
  const auto executor = session.executor({w->snapshot}, {});
  executor->run({});
  const Executor::Retain retain(*executor);
  session.assign(*w, Tensor::scalar<float>(5));
  CHECK_EQ(number(session.run(w->snapshot)), 5.0f);
  CHECK_EQ(number(executor->result(0)), 1.0f);
}
