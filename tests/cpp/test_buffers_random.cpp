// Sharing memory does not change results: tests on random graphs and on every op of the registry.
#include <random>

#include "base/threads.h"
#include "buffers_test.h"
#include "io_test.h"
#include "op_example.h"
#include "ops/state/gradient_helpers.h"
#include "test.h"
#include "threads_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

// A random graph with all kinds of buffers: new, forwarded, possibly forwarded, constant between
// runs, variables and their updates. All values are rows of `width` numbers.
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
  // Returns some values, and sometimes the updates.
  std::vector<Fetch> some_fetches() {
    std::vector<Fetch> fetches;
    for (int i = 0; i < 3; ++i) fetches.emplace_back(some_value());
    if (one_in(2)) fetches.insert(fetches.end(), updates_.begin(), updates_.end());
    return fetches;
  }
  // Feeds the input, and sometimes a value that the graph would compute.
  Feeds some_feeds(int64_t rows) {
    Feeds feeds = {{x_, random_rows(rows)}};
    const Output other = some_value();
    if (one_in(3) && other != x_) feeds.emplace_back(other, random_rows(rows));
    return feeds;
  }

 private:
  bool one_in(int n) { return std::uniform_int_distribution<int>(1, n)(random_) == 1; }
  Output some_value() {
    // Prefers values that were created late, because their buffers are in use for longer.
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
        // GatherV2 allocates its output itself.
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

// Runs the same feeds in a session with shared memory and in one without.
class TwoSessions {
 public:
  explicit TwoSessions(const RandomGraph& model)
      : sharing_(model.graph(), reusing(true)), unshared_(model.graph(), reusing(false)) {
    sharing_.run(model.initializers());
    unshared_.run(model.initializers());
  }
  void run(const std::vector<Fetch>& fetches, const Feeds& feeds) {
    const std::vector<Tensor> shared_results = sharing_.run(fetches, feeds),
                              expected = unshared_.run(fetches, feeds);
    for (size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].is_valid()) CHECK(same_bits(shared_results[i], expected[i]));
    }
  }

 private:
  Session sharing_, unshared_;
};

}  // namespace

TEST(buffers_reuse_changes_no_result) {
  std::mt19937_64 random = seeded_generator();
  for (int round = 0; round < 60; ++round) {
    RandomGraph model(random, 5, 40);
    TwoSessions sessions(model);
    std::vector<std::vector<Fetch>> fetches;
    for (int i = 0; i < 4; ++i) fetches.push_back(model.some_fetches());
    for (int i = 0; i < 24; ++i) {
      const auto rows = std::uniform_int_distribution<int64_t>(1, 6)(random);
      const Feeds feeds = model.some_feeds(rows);
      const auto& expected = fetches[std::uniform_int_distribution<size_t>(0, 3)(random)];
      // Repeated runs use the fast path for steps with unchanged shapes.
      for (int repeat = 0; repeat < 3; ++repeat) sessions.run(expected, feeds);
    }
  }
}

TEST(buffers_reuse_changes_no_result_on_two_threads) {
  std::mt19937_64 random = seeded_generator();
  const Threads two(2);
  for (int round = 0; round < 6; ++round) {
    RandomGraph model(random, 48, 60);
    TwoSessions sessions(model);
    const std::vector<Fetch> fetches = model.some_fetches(), other_fetches = model.some_fetches();
    for (int i = 0; i < 12; ++i) sessions.run(fetches, model.some_feeds(48));
    for (int i = 0; i < 12; ++i)
      sessions.run(i % 2 ? fetches : other_fetches, model.some_feeds(48));
  }
}

// A kernel must not rely on its output of the previous run, because another output may have used
// the memory.
TEST(buffers_keep_no_contents_between_runs) {
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
      const Output garbage = placeholder(g, Shape{-1}), negated = g.op("Neg", {garbage});
      Session session(example.graph, reusing(true));
      const std::vector<Tensor> before = session.run(outputs, feeds);
      for (const Tensor& output : before) {
        Tensor numbers(DType::kFloat32, Shape{static_cast<int64_t>(output.num_bytes() + 3) / 4});
        std::memset(numbers.raw(), 0x2b, numbers.num_bytes());
        session.run({negated}, {{garbage, numbers}});
      }
      const std::vector<Tensor> after = session.run(outputs, feeds);
      for (size_t i = 0; i < before.size(); ++i) CHECK(before[i].equals(after[i]));
    }
  }
}
