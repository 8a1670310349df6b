// Tests If and While: which function runs, its captured values, and gradients.
#include <cmath>

#include "autodiff/gradients.h"
#include "control/control_flow.h"
#include "graph/lowering.h"
#include "graph/variable.h"
#include "io/graphs/graph_def.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;

namespace {

using Outputs = std::vector<Output>;

struct Place {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Graph& g = *graph;
  Output placeholder(const char* name, const Shape& shape = Shape()) {
    return g.op("Placeholder").attr("dtype", DType::kFloat64).attr("shape", shape).named(name);
  }
};

double number(const Tensor& t) { return t.number_at(0); }

// Returns the derivative of y by x at `at`, computed by finite differences.
double slope(Session& session, Output y, Output x, double at, const Feeds& other_feeds = {}) {
  double sides[2];
  for (int side = 0; side < 2; ++side) {
    Feeds feeds = other_feeds;
    feeds.emplace_back(x, Tensor::scalar<double>(at + (side == 0 ? 1e-6 : -1e-6)));
    sides[side] = number(session.run({y}, feeds)[0]);
  }
  return (sides[0] - sides[1]) / 2e-6;
}

// Returns exp(x) * a if x > 0, else sin(x) + a * a.
Output branches(Graph& g, Output x, Output a) {
  const Output zero = g.scalar(DType::kFloat64, 0);
  const Output pred = g.op("Greater", {x, zero});
  return add_cond(
      g, pred,
      [&](FuncGraph& f, const Outputs&) -> Outputs {
        return {f.op("Mul", {f.op("Exp", {x}), a})};
      },
      [&](FuncGraph& f, const Outputs&) -> Outputs {
        return {f.op("Add", {f.op("Sin", {x}), f.op("Mul", {a, a})})};
      },
      "cond")[0];
}

// Adds a loop that repeats y = sin(y * a) + x `n` times, starting from y = x.
Output iterated(Graph& g, Output x, Output a, int n) {
  const Output zero = g.scalar(DType::kInt32, 0);
  LoopOptions options;
  return add_while(
      g,
      [&](FuncGraph& f, const Outputs& v) -> Outputs {
        return {f.op("Less", {v[0], f.scalar(DType::kInt32, n)})};
      },
      [&](FuncGraph& f, const Outputs& v) -> Outputs {
        const Output next = f.op("Add", {f.op("Sin", {f.op("Mul", {v[1], a})}), x});
        return {f.op("AddV2", {v[0], f.scalar(DType::kInt32, 1)}), next};
      },
      {zero, x}, options)[1];
}

Output gradient_of(Graph& g, Output y, Output x) {
  const Gradient gradient = gradients(g, {y}, {x})[0];
  return dense_gradient(g, gradient);
}

}  // namespace

TEST(control_flow_branch_and_its_gradients) {
  Place p;
  const Output x = p.placeholder("x"), a = p.placeholder("a");
  const Output y = branches(p.g, x, a);
  const Output dx = gradient_of(p.g, y, x), da = gradient_of(p.g, y, a);
  const Output dxx = gradient_of(p.g, dx, x), dxa = gradient_of(p.g, dx, a);
  Session session(p.graph);
  for (const double at : {0.7, -0.4}) {
    const Feeds feeds = {{x, Tensor::scalar<double>(at)}, {a, Tensor::scalar<double>(1.5)}};
    const Feeds other_feeds = {{a, Tensor::scalar<double>(1.5)}};
    const auto results = session.run({y, dx, da, dxx, dxa}, feeds);
    CHECK_NEAR(number(results[0]), at > 0 ? std::exp(at) * 1.5 : std::sin(at) + 2.25, 1e-12);
    CHECK_NEAR(number(results[1]), slope(session, y, x, at, other_feeds), 1e-8);
    CHECK_NEAR(number(results[2]), at > 0 ? std::exp(at) : 3.0, 1e-12);
    CHECK_NEAR(number(results[3]), at > 0 ? 1.5 * std::exp(at) : -std::sin(at), 1e-12);
    CHECK_NEAR(number(results[4]), at > 0 ? std::exp(at) : 0.0, 1e-12);
  }
}

TEST(control_flow_loop_and_its_gradients) {
  Place p;
  const Output x = p.placeholder("x"), a = p.placeholder("a");
  for (const int n : {0, 1, 4}) {
    const Output y = iterated(p.g, x, a, n);
    const Output dx = gradient_of(p.g, y, x);
    const Output dxx = gradient_of(p.g, dx, x);
    Session session(p.graph);
    const Feeds other_feeds = {{a, Tensor::scalar<double>(0.9)}};
    Feeds feeds = other_feeds;
    feeds.emplace_back(x, Tensor::scalar<double>(0.3));
    const auto results = session.run({y, dx, dxx}, feeds);
    double expected = 0.3;
    for (int i = 0; i < n; ++i) expected = std::sin(expected * 0.9) + 0.3;
    CHECK_NEAR(number(results[0]), expected, 1e-12);
    CHECK_NEAR(number(results[1]), slope(session, y, x, 0.3, other_feeds), 1e-7);
    CHECK_NEAR(number(results[2]), slope(session, dx, x, 0.3, other_feeds), 1e-6);
  }
}

// The model is a loop in a branch in a loop.
TEST(control_flow_nested) {
  Place p;
  const Output x = p.placeholder("x"), a = p.placeholder("a");
  const Output zero = p.g.scalar(DType::kInt32, 0);
  const Output y = add_while(
      p.g,
      [&](FuncGraph& f, const Outputs& v) -> Outputs {
        return {f.op("Less", {v[0], f.scalar(DType::kInt32, 3)})};
      },
      [&](FuncGraph& f, const Outputs& v) -> Outputs {
        const Output is_odd = f.op("Equal", {v[0], f.scalar(DType::kInt32, 1)});
        const Output next = add_cond(
            f, is_odd,
            [&](FuncGraph& h, const Outputs&) -> Outputs { return {iterated(h, v[1], a, 2)}; },
            [&](FuncGraph& h, const Outputs&) -> Outputs {
              return {h.op("Mul", {h.op("Tanh", {v[1]}), a})};
            },
            "cond")[0];
        return {f.op("AddV2", {v[0], f.scalar(DType::kInt32, 1)}), next};
      },
      {zero, x}, LoopOptions())[1];
  const Output dx = gradient_of(p.g, y, x), da = gradient_of(p.g, y, a);
  Session session(p.graph);
  Feeds feeds = {{x, Tensor::scalar<double>(0.4)}, {a, Tensor::scalar<double>(1.2)}};
  const auto results = session.run({y, dx, da}, feeds);
  CHECK_NEAR(number(results[1]), slope(session, y, x, 0.4, {feeds[1]}), 1e-8);
  CHECK_NEAR(number(results[2]), slope(session, y, a, 1.2, {feeds[0]}), 1e-8);
  // Computing a second derivative adds operations to a graph that has already run.
  const Output dxx = gradient_of(p.g, dx, x);
  CHECK_NEAR(number(session.run({dxx}, feeds)[0]), slope(session, dx, x, 0.4, {feeds[1]}), 1e-6);
}

// The gradient must use the random numbers that the loop drew in its iterations.
TEST(control_flow_gradient_of_random_numbers) {
  Place p;
  const Output x = p.placeholder("x");
  const Output zero = p.g.scalar(DType::kInt32, 0), start = p.g.scalar(DType::kFloat64, 0);
  const Output y = add_while(
      p.g,
      [&](FuncGraph& f, const Outputs& v) -> Outputs {
        return {f.op("Less", {v[0], f.scalar(DType::kInt32, 5)})};
      },
      [&](FuncGraph& f, const Outputs& v) -> Outputs {
        const Output drawn = f.op("RandomUniform", {f.int_vector({})})
                                 .attr("dtype", DType::kFloat64)
                                 .attr("seed", 3)
                                 .attr("seed2", 4);
        const Output next = f.op("Add", {v[1], f.op("Mul", {drawn, x})});
        return {f.op("AddV2", {v[0], f.scalar(DType::kInt32, 1)}), next};
      },
      {zero, start}, LoopOptions())[1];
  const Output dx = gradient_of(p.g, y, x);
  Session session(p.graph);
  for (int run = 0; run < 3; ++run) {
    const auto results = session.run({y, dx}, {{x, Tensor::scalar<double>(2)}});
    CHECK(number(results[0]) > 0);
    CHECK_NEAR(number(results[0]), 2 * number(results[1]), 1e-12);
  }
}

TEST(control_flow_updates_variables_of_the_taken_branch) {
  Place p;
  const Output pred = p.g.op("Placeholder").attr("dtype", DType::kBool).attr("shape", Shape());
  const VariablePtr v = make_variable(p.g, p.g.scalar(DType::kFloat64, 1), "v", VariableOptions());
  const auto adds = [&](double x) {
    return [&, x](FuncGraph& f, const Outputs&) -> Outputs {
      return {f.op("AssignAdd", {v->handle, f.scalar(DType::kFloat64, x)})};
    };
  };
  const Output changed = add_cond(p.g, pred, adds(10), adds(100), "cond")[0];
  Session session(p.graph);
  session.run(v->initializer);
  // A read that is fetched in the same run returns the value before the branch updates it.
  const auto first = session.run({changed, v->snapshot}, {{pred, Tensor::scalar(true)}});
  CHECK_EQ(number(first[0]), 11.0);
  CHECK_EQ(number(first[1]), 1.0);
  CHECK_EQ(number(session.run({changed}, {{pred, Tensor::scalar(false)}})[0]), 111.0);
  CHECK_EQ(number(session.run(v->snapshot)), 111.0);
}

TEST(control_flow_gradient_of_a_variable_read_inside) {
  Place p;
  const VariablePtr v = make_variable(p.g, p.g.scalar(DType::kFloat64, 3), "v", VariableOptions());
  const Output zero = p.g.scalar(DType::kInt32, 0), start = p.g.scalar(DType::kFloat64, 1);
  const Output y = add_while(
      p.g,
      [&](FuncGraph& f, const Outputs& a) -> Outputs {
        return {f.op("Less", {a[0], f.scalar(DType::kInt32, 3)})};
      },
      [&](FuncGraph& f, const Outputs& a) -> Outputs {
        const Output read = f.op("Identity", {v->handle});
        return {f.op("AddV2", {a[0], f.scalar(DType::kInt32, 1)}), f.op("Mul", {a[1], read})};
      },
      {zero, start}, LoopOptions())[1];
  const Output dv = gradient_of(p.g, y, v->handle);
  Session session(p.graph);
  session.run(v->initializer);
  CHECK_EQ(number(session.run(y)), 27.0);
  CHECK_EQ(number(session.run(dv)), 27.0);
}

TEST(control_flow_is_exported_as_functions) {
  Place p;
  const Output x = p.placeholder("x"), a = p.placeholder("a");
  gradient_of(p.g, iterated(p.g, branches(p.g, x, a), a, 3), x);
  const GraphDef def = make_graph_def(*lowered_graph(p.g));
  CHECK(!def.library.empty());
  size_t calls = 0;
  for (const NodeDef& node : def.nodes)
    calls += node.op == "StatelessIf" || node.op == "StatelessWhile";
  CHECK_EQ(calls, size_t{4});
}

TEST(control_flow_tensors_of_a_function_stay_inside) {
  Place p;
  const Output x = p.placeholder("x"), a = p.placeholder("a");
  Output leaked;
  add_cond(
      p.g, p.g.op("Greater", {x, a}),
      [&](FuncGraph& f, const Outputs&) -> Outputs {
        leaked = f.op("Exp", {x});
        return {leaked};
      },
      [&](FuncGraph&, const Outputs&) -> Outputs { return {a}; }, "cond");
  CHECK_THROWS(p.g.op("Exp", {leaked}).build(), Code::kInvalidArgument, "a function");
  Session session(p.graph);
  CHECK_THROWS(session.run({leaked}, {}), Code::kInvalidArgument, "a function");
}
