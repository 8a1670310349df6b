// Buffers of a session are shared by its plans and reused after their last reader, without a
// visible effect.
#include <functional>

#include "buffers_test.h"
#include "ops/state/gradient_helpers.h"
#include "ops/state/py_func.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

// A graph function that runs code during a run.
class CallbackFunction : public TensorFunction {
 public:
  explicit CallbackFunction(std::function<Tensor(const Tensor&)> body) : body_(std::move(body)) {}
  std::vector<Tensor> call(const std::vector<Tensor>& inputs, const std::vector<DType>&) override {
    return {body_(inputs[0])};
  }

 private:
  std::function<Tensor(const Tensor&)> body_;
};

}  // namespace

TEST(buffers_of_a_chain_are_reused) {
  auto g = std::make_shared<Graph>();
  const Output x = placeholder(*g, Shape{-1});
  Output y = x;
  for (int i = 0; i < 50; ++i) y = g->op("Tanh", {y});
  Session session(g);
  const Feeds feeds = {{x, Tensor::zeros(DType::kFloat32, Shape{10000})}};
  session.run({y}, feeds);
  const auto executor = session.executor({y}, {x});
  BufferPool& buffers = executor->plan().table().buffers();
  CHECK_EQ(buffers.num_placed(), size_t{50});
  CHECK_EQ(buffers.num_bytes(), size_t{2 * 40000});
}

TEST(buffers_are_shared_by_all_plans) {
  auto g = std::make_shared<Graph>();
  const Output x = placeholder(*g, Shape{-1});
  const Output a = g->op("Tanh", {x}), b = g->op("Neg", {a}), c = add(*g, a, b);
  Session session(g);
  const Feeds feeds = {{x, Tensor::zeros(DType::kFloat32, Shape{10000})}};
  session.run({c}, feeds);
  BufferPool& buffers = session.executor({c}, {x})->plan().table().buffers();
  const size_t before = buffers.num_bytes();
  for (const auto& fetches : {std::vector<Fetch>{a}, {b}, {a, b}, {b, c}, {c, a, b}}) {
    session.run(fetches, feeds);
  }
  CHECK_EQ(buffers.num_bytes(), before);
}

// When `late` is computed, the first plan no longer needs the buffer of `a`, but the second does.
TEST(buffers_are_separated_if_a_later_plan_needs_both) {
  auto g = std::make_shared<Graph>();
  const Output x = placeholder(*g, Shape{-1});
  const Output a = g->op("Square", {x}), b = g->op("Neg", {a}), c = g->op("Neg", {b});
  const Output late = g->op("Square", {c}), late_sum = add(*g, a, late);
  Session session(g, reusing(true));
  const auto sum_of = [&](float value) {
    const Feeds feeds = {{x, Tensor::vector<float>({value, value})}};
    session.run({late}, feeds);
    const float sum = session.run({late_sum}, feeds)[0].data<float>()[1];
    const float second_result = session.run({late}, feeds)[0].data<float>()[1];
    CHECK_EQ(second_result, value * value * value * value);
    return sum;
  };
  for (const float value : {0.5f, -1.0f, 2.0f}) {
    CHECK_EQ(sum_of(value), value * value + value * value * value * value);
  }
}

TEST(buffers_of_tensors_that_only_some_plans_feed) {
  auto g = std::make_shared<Graph>();
  const Output x = g->constant(Tensor::vector<float>({1, 2}));
  const Output y = add(*g, x, x), z = add(*g, y, x), shape = shape_of(*g, y);
  const Output filled = g->op("Fill", {shape, g->scalar(DType::kFloat32, 7)});
  Session session(g, reusing(true));
  for (int i = 0; i < 3; ++i) {
    CHECK_EQ(session.run(z).data<float>()[1], 6.0f);
    const Tensor zeros = Tensor::zeros(DType::kFloat32, Shape{2});
    CHECK_EQ(session.run({z}, {{y, zeros}})[0].data<float>()[1], 2.0f);
    CHECK_EQ(session.run({filled}, {{shape, Tensor::vector<int32_t>({3})}})[0].num_elements(), 3);
    CHECK_EQ(session.run(filled).num_elements(), int64_t{2});
    CHECK_EQ(session.run({z}, {{x, Tensor::vector<float>({5, 5})}})[0].data<float>()[0], 15.0f);
  }
}

TEST(buffers_of_an_operation_with_one_fed_output) {
  auto g = std::make_shared<Graph>();
  const Output x = placeholder(*g, Shape{2, 2});
  Operation* rows = g->op("Unpack", {x}).attr("num", int64_t{2});
  const Output early = g->op("Neg", {rows->output(0)});
  const Output sum = add(*g, rows->output(1), early), late = g->op("Neg", {rows->output(0)});
  Session session(g, reusing(true));
  const Tensor numbers = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  const Tensor other = Tensor::vector<float>({10, 20});
  for (int i = 0; i < 3; ++i) {
    const auto fed = session.run({sum, late}, {{x, numbers}, {rows->output(0), other}});
    CHECK_EQ(fed[0].data<float>()[1], 4.0f - 20.0f);
    CHECK_EQ(fed[1].data<float>()[0], -10.0f);
    const auto computed = session.run({sum, late}, {{x, numbers}});
    CHECK_EQ(computed[0].data<float>()[1], 4.0f - 2.0f);
    CHECK_EQ(computed[1].data<float>()[0], -1.0f);
  }
}

TEST(executors_are_bounded_in_number) {
  auto g = std::make_shared<Graph>();
  const VariablePtr w = make_variable(*g, g->scalar(DType::kFloat32, 0), "w", {});
  Operation* count = g->op("AssignAdd", {w->handle, g->scalar(DType::kFloat32, 1)});
  std::vector<Output> values;
  for (int i = 0; i < 300; ++i) values.push_back(g->scalar(DType::kFloat32, i));
  Session session(g);
  session.run(w->initializer);
  const auto executor = session.executor({values[0]}, {});
  for (int i = 0; i < 300; ++i) {
    const std::vector<Tensor> results = session.run({values[static_cast<size_t>(i)], count});
    CHECK_EQ(*results[0].data<float>(), static_cast<float>(i));
    CHECK(session.num_executors() <= 64);
  }
  // An executor that a caller holds still works after its eviction.
  executor->run({});
  CHECK_EQ(*executor->result(0).data<float>(), 0.0f);
  CHECK_EQ(*session.run(w->snapshot).data<float>(), 300.0f);
}

TEST(executors_share_the_state_of_a_kernel) {
  auto g = std::make_shared<Graph>();
  const Output shape = g->constant(Tensor::vector<int32_t>({2}));
  const auto draw = [&] {
    return g->op("RandomUniform", {shape})
        .attr("dtype", DType::kFloat32)
        .attr("seed", int64_t{1})
        .attr("seed2", int64_t{2});
  };
  const Output a = draw(), b = g->op("Neg", {a});
  Session one(g), other(g);
  // Running each op in a plan of its own draws the same numbers as running both in one plan.
  const Tensor first = one.run(a), second = one.run(a);
  CHECK(same_bits(first, other.run(a)));
  CHECK_EQ(other.run(b).data<float>()[0], -second.data<float>()[0]);
}

TEST(nested_runs_have_separate_buffers) {
  auto g = std::make_shared<Graph>();
  const Output x = placeholder(*g, Shape{-1});
  const Output a = g->op("Square", {x}), b = g->op("Neg", {a});
  Session* running = nullptr;
  int depth = 0;
  std::vector<Fetch> inner;
  const auto function = std::make_shared<CallbackFunction>([&](const Tensor& value) {
    if (depth == 2) return value.copy();
    ++depth;
    Tensor fed = value.copy();
    for (int64_t i = 0; i < fed.num_elements(); ++i) fed.data<float>()[i] += 1;
    const Tensor result = running->run(inner, {{x, fed}})[0];
    --depth;
    return result;
  });
  Operation* called = make_py_func(*g, function, {b}, {DType::kFloat32}, true, "called");
  const Output sum = add(*g, add(*g, b, called->output(0)), a);  // a and b are needed afterwards
  Session session(g, reusing(true));
  running = &session;
  const auto expected = [](float value, bool to_sum) {
    // The expected results of run(sum) and run(b) for one number.
    const std::function<float(float, int)> sum_at = [&](float v, int level) -> float {
      const float t = v * v;
      const float inside = level == 2 ? -t
                           : to_sum   ? sum_at(-t + 1, level + 1)
                                      : -(-t + 1) * (-t + 1);
      return (-t + inside) + t;
    };
    return sum_at(value, 0);
  };
  for (const bool to_sum : {true, false}) {  // the nested run fetches the same tensor, or another
    inner = {to_sum ? sum : b};
    for (const float value : {0.5f, -0.25f, 0.5f}) {
      const Tensor results =
          session.run({sum}, {{x, Tensor::vector<float>({value, value, value})}})[0];
      CHECK_EQ(results.data<float>()[2], expected(value, to_sum));
    }
  }
  const size_t executors = session.num_executors();
  session.run({sum}, {{x, Tensor::vector<float>({1})}});
  CHECK_EQ(session.num_executors(), executors);  // the cached plans were used
}

TEST(executor_rejects_recursive_runs) {
  auto g = std::make_shared<Graph>();
  std::shared_ptr<Executor> executor;
  const auto function = std::make_shared<CallbackFunction>([&](const Tensor& value) {
    executor->run({});
    return value;
  });
  Operation* called = make_py_func(*g, function, {g->scalar(DType::kFloat32, 1)}, {DType::kFloat32},
                                   true, "called");
  Session session(g);
  executor = session.executor({called->output(0)}, {});
  CHECK_THROWS(executor->run({}), Code::kFailedPrecondition, "cannot start another run");
}

TEST(buffers_are_freed_after_a_failed_run) {
  auto g = std::make_shared<Graph>();
  const Output x = placeholder(*g, Shape{-1}), y = placeholder(*g, Shape{-1});
  const Output a = g->op("Square", {x}), b = g->op("Neg", {a}), c = add(*g, b, y);
  Session session(g, reusing(true));
  const Tensor two = Tensor::vector<float>({1, 1}), three = Tensor::vector<float>({1, 1, 1});
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS(session.run({c}, {{x, two}, {y, three}}), Code::kInvalidArgument, "");
    CHECK_EQ(session.run({c}, {{x, three}, {y, three}})[0].data<float>()[2], 0.0f);
    CHECK_EQ(session.run({b}, {{x, two}})[0].data<float>()[1], -1.0f);
  }
}
