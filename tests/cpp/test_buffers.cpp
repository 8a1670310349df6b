// Buffers of a session: shared by all plans, reused after their last reader, and never seen to be.
#include <random>

#include "base/threads.h"
#include "io_test.h"
#include "op_example.h"
#include "ops/gradient_helpers.h"
#include "ops/py_func.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

class Threads {
 public:
  explicit Threads(int threads) : before_(kernel_threads()) { set_kernel_threads(threads); }
  ~Threads() { set_kernel_threads(before_); }

 private:
  int before_;
};

SessionOptions reusing(bool reuse) {
  SessionOptions options;
  options.buffers.reuse = reuse;
  options.buffers.smallest = 1;
  return options;
}

Output placeholder(Graph& g, const Shape& shape) {
  return g.op("Placeholder").attr("dtype", DType::kFloat32).attr("shape", shape);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.raw(), b.raw(), a.num_bytes()) == 0;
}

// A graph of what shares buffers in all ways that there are: values of their own, forwarded ones,
// ones that may be forwarded, ones that stay from run to run, variables and their updates. All
// values are rows of `width` numbers.
class RandomGraph {
 public:
  RandomGraph(std::mt19937_64& random, int64_t width, int size)
      : random_(random), width_(width), x_(placeholder(*graph_, Shape{-1, width})) {
    values_.push_back(x_);
    for (int i = 0; i < 2; ++i) {
      VariableOptions options;
      options.use_resource = i == 0;
      variables_.push_back(
          make_variable(*graph_, graph_->constant(random_matrix(width)), str_cat("w", i), options));
    }
    while (static_cast<int>(values_.size()) < size) values_.push_back(one_more());
    for (const VariablePtr& variable : variables_) add_update(*variable);
  }

  const std::shared_ptr<Graph>& graph() const { return graph_; }
  std::vector<Fetch> initializers() const {
    return {variables_[0]->initializer, variables_[1]->initializer};
  }
  // Some values, and now and then the updates.
  std::vector<Fetch> some_fetches() {
    std::vector<Fetch> fetches;
    for (int i = 0; i < 3; ++i) fetches.emplace_back(some_value());
    if (one_in(2)) fetches.insert(fetches.end(), updates_.begin(), updates_.end());
    return fetches;
  }
  // The input, and now and then a value that is computed otherwise.
  Feeds some_feeds(int64_t rows) {
    Feeds feeds = {{x_, random_rows(rows)}};
    const Output other = some_value();
    if (one_in(3) && other != x_) feeds.emplace_back(other, random_rows(rows));
    return feeds;
  }

 private:
  bool one_in(int n) { return std::uniform_int_distribution<int>(1, n)(random_) == 1; }
  Output some_value() {
    // of late ones more often: they have further to live
    const size_t n = values_.size(), recent = one_in(2) ? n / 2 : 0;
    return values_[std::uniform_int_distribution<size_t>(recent, n - 1)(random_)];
  }
  Tensor random_rows(int64_t rows) {
    Tensor t(DType::kFloat32, Shape{rows, width_});
    std::normal_distribution<float> normal(0, 0.3f);
    for (int64_t i = 0; i < t.num_elements(); ++i) t.data<float>()[i] = normal(random_);
    return t;
  }
  Tensor random_matrix(int64_t n) { return random_rows(n); }
  Output one_more() {
    Graph& g = *graph_;
    const Output a = some_value(), b = some_value();
    switch (std::uniform_int_distribution<int>(0, 12)(random_)) {
      case 0:
        return g.op("Identity", {a});
      case 1:
        return g.op("Reshape", {a, shape_of(g, b)});
      case 2: {
        const Tensor no_axes(DType::kInt32, Shape{0});
        return g.op("Sum", {a, g.constant(no_axes)});
      }
      case 3:
        return g.op("Fill", {shape_of(g, a), g.scalar(DType::kFloat32, 0.25)});
      case 4:
        return g.op("ZerosLike", {a});
      case 5:
        return g.op("MatMul", {a, variables_[one_in(2)]->snapshot});
      case 6: {
        const Output mean =
            g.op("Mean", {a, g.constant(Tensor::vector<int32_t>({1}))}).attr("keep_dims", true);
        return g.op("Sub", {b, mean});
      }
      case 7: {
        // the op allocates its output itself
        const Output ids = g.constant(Tensor::vector<int32_t>({0}));
        return add(g, b, g.op("GatherV2", {a, ids, g.scalar(DType::kInt32, 0)}));
      }
      case 8:
        return g.op("Tanh", {a});
      case 9:
        return g.op("SelectV2", {g.op("Less", {a, b}), a, b});
      default:
        return one_in(2) ? add(g, a, b) : multiply(g, a, g.op("Tanh", {b}));
    }
  }
  void add_update(const Variable& variable) {
    Graph& g = *graph_;
    const Output gradient = g.op("MatMul", {some_value(), some_value()}).attr("transpose_a", true);
    updates_.emplace_back(
        g.op(variable.is_resource ? "ResourceApplyGradientDescent" : "ApplyGradientDescent",
             {variable.handle, g.scalar(DType::kFloat32, 0.001), gradient})
            .attr("T", DType::kFloat32)
            .build());
  }

  std::mt19937_64& random_;
  int64_t width_;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  Output x_;
  std::vector<Output> values_;
  std::vector<VariablePtr> variables_;
  std::vector<Fetch> updates_;
};

// Runs the same on a session whose outputs share memory and on one where each has its own.
class Both {
 public:
  explicit Both(const RandomGraph& model)
      : shared_(model.graph(), reusing(true)), own_(model.graph(), reusing(false)) {
    shared_.run(model.initializers());
    own_.run(model.initializers());
  }
  void run(const std::vector<Fetch>& fetches, const Feeds& feeds) {
    const std::vector<Tensor> got = shared_.run(fetches, feeds), wanted = own_.run(fetches, feeds);
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].is_valid()) CHECK(same_bits(got[i], wanted[i]));
    }
  }

 private:
  Session shared_, own_;
};

// A function of the graph that runs something in its middle.
class Calls : public TensorFunction {
 public:
  explicit Calls(std::function<Tensor(const Tensor&)> body) : body_(std::move(body)) {}
  std::vector<Tensor> call(const std::vector<Tensor>& inputs, const std::vector<DType>&) override {
    return {body_(inputs[0])};
  }

 private:
  std::function<Tensor(const Tensor&)> body_;
};

}  // namespace

TEST(buffers_reuse_changes_no_result) {
  std::mt19937_64 random = seeded_generator();
  for (int round = 0; round < 60; ++round) {
    RandomGraph model(random, 5, 40);
    Both both(model);
    std::vector<std::vector<Fetch>> fetches;
    for (int i = 0; i < 4; ++i) fetches.push_back(model.some_fetches());
    for (int i = 0; i < 24; ++i) {
      const auto rows = std::uniform_int_distribution<int64_t>(1, 6)(random);
      const Feeds feeds = model.some_feeds(rows);
      const auto& wanted = fetches[std::uniform_int_distribution<size_t>(0, 3)(random)];
      // several in a row run in the steady way
      for (int repeat = 0; repeat < 3; ++repeat) both.run(wanted, feeds);
    }
  }
}

TEST(buffers_reuse_changes_no_result_on_two_threads) {
  std::mt19937_64 random = seeded_generator();
  const Threads two(2);
  for (int round = 0; round < 6; ++round) {
    RandomGraph model(random, 48, 60);
    Both both(model);
    const std::vector<Fetch> fetches = model.some_fetches(), others = model.some_fetches();
    for (int i = 0; i < 12; ++i) both.run(fetches, model.some_feeds(48));
    for (int i = 0; i < 12; ++i) both.run(i % 2 ? fetches : others, model.some_feeds(48));
  }
}

TEST(buffers_of_a_chain_are_few) {
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

// In the first plan the buffer of `a` is free when `late` is made, in the second it is not.
TEST(buffers_part_where_a_later_plan_needs_both) {
  auto g = std::make_shared<Graph>();
  const Output x = placeholder(*g, Shape{-1});
  const Output a = g->op("Square", {x}), b = g->op("Neg", {a}), c = g->op("Neg", {b});
  const Output late = g->op("Square", {c}), both = add(*g, a, late);
  Session session(g, reusing(true));
  const auto sum_of = [&](float value) {
    const Feeds feeds = {{x, Tensor::vector<float>({value, value})}};
    session.run({late}, feeds);
    const float sum = session.run({both}, feeds)[0].data<float>()[1];
    const float again = session.run({late}, feeds)[0].data<float>()[1];
    CHECK_EQ(again, value * value * value * value);
    return sum;
  };
  for (const float value : {0.5f, -1.0f, 2.0f}) {
    CHECK_EQ(sum_of(value), value * value + value * value * value * value);
  }
}

TEST(buffers_of_what_is_fed_here_and_computed_there) {
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

TEST(executors_are_bounded_in_number) {
  auto g = std::make_shared<Graph>();
  const VariablePtr w = make_variable(*g, g->scalar(DType::kFloat32, 0), "w", {});
  Operation* count = g->op("AssignAdd", {w->handle, g->scalar(DType::kFloat32, 1)});
  std::vector<Output> values;
  for (int i = 0; i < 300; ++i) values.push_back(g->scalar(DType::kFloat32, i));
  Session session(g);
  session.run(w->initializer);
  const auto kept = session.executor({values[0]}, {});
  for (int i = 0; i < 300; ++i) {
    const std::vector<Tensor> got = session.run({values[static_cast<size_t>(i)], count});
    CHECK_EQ(*got[0].data<float>(), static_cast<float>(i));
    CHECK(session.num_executors() <= 64);
  }
  // who holds one may go on running it
  kept->run({});
  CHECK_EQ(*kept->result(0).data<float>(), 0.0f);
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
  // one plan of two, and two plans of one each, draw the same numbers
  const Tensor first = one.run(a), second = one.run(a);
  CHECK(same_bits(first, other.run(a)));
  CHECK_EQ(other.run(b).data<float>()[0], -second.data<float>()[0]);
}

TEST(runs_inside_of_runs_have_buffers_of_their_own) {
  auto g = std::make_shared<Graph>();
  const Output x = placeholder(*g, Shape{-1});
  const Output a = g->op("Square", {x}), b = g->op("Neg", {a});
  Session* running = nullptr;
  int depth = 0;
  std::vector<Fetch> inner;
  const auto function = std::make_shared<Calls>([&](const Tensor& value) {
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
    // what run(sum) and run(b) give for one number
    const std::function<float(float, int)> sum_at = [&](float v, int level) -> float {
      const float t = v * v;
      const float inside = level == 2 ? -t
                           : to_sum   ? sum_at(-t + 1, level + 1)
                                      : -(-t + 1) * (-t + 1);
      return (-t + inside) + t;
    };
    return sum_at(value, 0);
  };
  for (const bool to_sum : {true, false}) {  // the same fetches, and others
    inner = {to_sum ? sum : b};
    for (const float value : {0.5f, -0.25f, 0.5f}) {
      const Tensor got = session.run({sum}, {{x, Tensor::vector<float>({value, value, value})}})[0];
      CHECK_EQ(got.data<float>()[2], expected(value, to_sum));
    }
  }
  const size_t executors = session.num_executors();
  session.run({sum}, {{x, Tensor::vector<float>({1})}});
  CHECK_EQ(session.num_executors(), executors);  // they are compiled once
}

TEST(executor_is_not_run_by_what_it_runs) {
  auto g = std::make_shared<Graph>();
  std::shared_ptr<Executor> executor;
  const auto function = std::make_shared<Calls>([&](const Tensor& value) {
    executor->run({});
    return value;
  });
  Operation* called = make_py_func(*g, function, {g->scalar(DType::kFloat32, 1)}, {DType::kFloat32},
                                   true, "called");
  Session session(g);
  executor = session.executor({called->output(0)}, {});
  CHECK_THROWS(executor->run({}), Code::kFailedPrecondition, "by what it runs");
}

TEST(buffers_come_back_after_a_failed_run) {
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

// A kernel that counts on what it left in its output in the run before would give something else
// once another output has used the memory.
TEST(buffers_hold_nothing_from_run_to_run) {
  for (const auto& entry : all_ops()) {
    const OpDef& def = entry.second;
    if (def.is_stateful) continue;
    for (const std::string& text : def.examples) {
      context() = str_cat(entry.first, " | ", text);
      std::mt19937 random(1);
      const OpExample example = build_example(def, text, DType::kFloat64, random);
      Graph& g = *example.graph;
      Feeds feeds;
      for (size_t i = 0; i < example.placeholders.size(); ++i) {
        feeds.emplace_back(example.placeholders[i], example.values[i]);
      }
      std::vector<Fetch> outputs;
      for (int i = 0; i < example.op->num_outputs(); ++i)
        outputs.emplace_back(example.op->output(i));
      const Output garbage = placeholder(g, Shape{-1}), kept = g.op("Neg", {garbage});
      Session session(example.graph, reusing(true));
      const std::vector<Tensor> before = session.run(outputs, feeds);
      for (const Tensor& output : before) {
        Tensor numbers(DType::kFloat32, Shape{static_cast<int64_t>(output.num_bytes() + 3) / 4});
        std::memset(numbers.raw(), 0x2b, numbers.num_bytes());
        session.run({kept}, {{garbage, numbers}});
      }
      const std::vector<Tensor> after = session.run(outputs, feeds);
      for (size_t i = 0; i < before.size(); ++i) CHECK(before[i].equals(after[i]));
    }
  }
}
