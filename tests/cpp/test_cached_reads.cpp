// Sessions cache the buffers of variables, and must notice when a variable gets another buffer.
#include "graph/variable.h"
#include "ops/state/gradient_helpers.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;

namespace {

// A variable of any shape, with operations that assign and read it. An assignment of another shape
// moves the variable to another buffer.
struct RelocatableVariable {
  std::shared_ptr<Graph> g = std::make_shared<Graph>();
  Output handle = g->op("VarHandleOp")
                      .attr("dtype", DType::kFloat32)
                      .attr("shape", Shape::unknown())
                      .named("v");
  Output new_value = g->op("Placeholder").attr("dtype", DType::kFloat32);
  Operation* assign = g->op("AssignVariableOp", {handle, new_value}).attr("dtype", DType::kFloat32);

  Output read() { return g->op("ReadVariableOp", {handle}).attr("dtype", DType::kFloat32); }
  Output twice(Output x) { return add(*g, x, x); }
};

Tensor numbers(int64_t n, float first) {
  Tensor tensor(DType::kFloat32, Shape{n});
  for (int64_t i = 0; i < n; ++i) tensor.data<float>()[i] = first + static_cast<float>(i);
  return tensor;
}

Tensor doubled(const Tensor& x) {
  Tensor tensor = x.copy();
  for (int64_t i = 0; i < x.num_elements(); ++i) tensor.data<float>()[i] *= 2;
  return tensor;
}

}  // namespace

TEST(cached_read_follows_a_variable_that_moved_between_runs) {
  RelocatableVariable m;
  const Output y = m.twice(m.read());
  Session session(m.g);
  session.run({m.assign}, {{m.new_value, numbers(2, 0)}});
  float first = 0;
  for (const int64_t n : {2, 2, 3, 3, 3, 1, 4}) {
    const Tensor value = numbers(n, ++first);
    find_variable_state(session.resources(), *m.handle.op)->take(value.copy());
    for (int i = 0; i < 3; ++i) CHECK(session.run(y).equals(doubled(value)));
  }
}

TEST(cached_read_follows_a_variable_that_moved_in_its_run) {
  RelocatableVariable m;
  Output y;
  {
    ControlDependencies after(*m.g, {m.assign});
    y = m.twice(m.read());
  }
  for (int fresh = 0; fresh < 2; ++fresh) {
    Session session(m.g);
    for (int i = 0; i < 4; ++i) {
      const Tensor value = numbers(3, static_cast<float>(i));
      CHECK(session.run({y}, {{m.new_value, value}})[0].equals(doubled(value)));
      if (i < 2) find_variable_state(session.resources(), *m.handle.op)->take(numbers(3, 9));
    }
  }
}

TEST(cached_reads_of_plans_with_and_without_a_copy) {
  RelocatableVariable m;
  const Output value = m.read(), y = m.twice(value);
  Operation* update = m.g->op("AssignAddVariableOp", {m.handle, m.g->scalar(DType::kFloat32, 1)});
  Output late;
  {
    ControlDependencies after(*m.g, {update});
    late = add(*m.g, value, m.g->scalar(DType::kFloat32, 0));
  }
  Session session(m.g);
  session.run({m.assign}, {{m.new_value, Tensor::scalar<float>(5)}});
  for (int i = 0; i < 4; ++i) {
    const float expected = 5 + static_cast<float>(i);
    for (int k = 0; k < 2; ++k) CHECK_EQ(session.run(y).number_at(0), 2 * expected);
    CHECK_EQ(session.run(late).number_at(0), expected);
  }
}

TEST(cached_update_follows_a_variable_that_moved) {
  auto g = std::make_shared<Graph>();
  const Output input = g->op("Placeholder").attr("dtype", DType::kFloat32);
  const Output ref =
      g->op("VariableV2").attr("dtype", DType::kFloat32).attr("shape", Shape::unknown());
  Operation* assign = g->op("Assign", {ref, input}).attr("validate_shape", false);
  const Output gradient = g->op("Placeholder").attr("dtype", DType::kFloat32);
  Operation* update = g->op("ApplyGradientDescent", {ref, g->scalar(DType::kFloat32, 1), gradient});
  Session session(g);
  for (const int64_t n : {2, 3, 3, 1}) {
    session.run({assign}, {{input, numbers(n, 7)}});
    for (int i = 0; i < 3; ++i) session.run({update}, {{gradient, numbers(n, 0)}});
    const Tensor expected = session.run(ref);
    CHECK_EQ(expected.num_elements(), n);
    for (int64_t i = 0; i < n; ++i) CHECK_EQ(expected.number_at(i), static_cast<double>(7 - 2 * i));
  }
  CHECK_THROWS(session.run({update}, {{gradient, numbers(2, 0)}}), Code::kInvalidArgument,
               "The gradient has shape");
}
