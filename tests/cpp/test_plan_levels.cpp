// A plan (the operations of one run) gives the same bits and errors on several threads as on one.
#include <atomic>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"
#include "base/threads.h"
#include "ops/state/gradient_helpers.h"
#include "session/session.h"
#include "test.h"
#include "threads_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

constexpr int64_t kRows = 160;
constexpr int kColumns = 6;

Tensor filled(const Shape& shape, int seed) {
  Tensor x(DType::kFloat32, shape);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    x.data<float>()[i] = static_cast<float>((i * 7919 + seed * 104729) % 1000 - 500) / 2000;
  }
  return x;
}

// A model with independent products, each with an update, and an update that depends on all of
// them.
struct Model {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::vector<VariablePtr> variables;
  std::vector<Fetch> step;
  Output limit, sum;

  Model() {
    Graph& g = *graph;
    std::vector<Output> products;
    std::vector<Operation*> updates;
    for (int i = 0; i < kColumns; ++i) {
      VariableOptions options;
      options.use_resource = i % 2 == 0;
      variables.push_back(make_variable(g, g.constant(filled(Shape{kRows, kRows}, i), "start"),
                                        str_cat("w", i), options));
      products.push_back(
          matmul(g, variables.back()->snapshot, g.constant(filled(Shape{kRows, kRows}, -i), "x")));
    }
    sum = g.op("AddN", products);
    for (int i = 0; i < kColumns; ++i) {
      // Each gradient depends on another variable's value before the step.
      const VariablePtr& other = variables[static_cast<size_t>((i + 1) % kColumns)];
      const Output gradient = add(g, add(g, products[static_cast<size_t>(i)], sum),
                                  g.op("Identity", {other->snapshot}));
      const VariablePtr& own = variables[static_cast<size_t>(i)];
      updates.push_back(
          g.op(own->is_resource ? "ResourceApplyGradientDescent" : "ApplyGradientDescent",
               {own->handle, g.scalar(DType::kFloat32, 0.01), gradient})
              .attr("T", DType::kFloat32));
    }
    step = {Fetch(sum)};
    for (Operation* update : updates) step.emplace_back(update);
  }
  static Output matmul(Graph& g, Output a, Output b) { return g.op("MatMul", {a, b}); }

  std::vector<Tensor> run(int threads, int steps) const {
    const Threads set(threads);
    Session session(graph);
    for (const VariablePtr& variable : variables) session.run(variable->initializer);
    std::vector<Tensor> results;
    for (int i = 0; i < steps; ++i) results.push_back(session.run(step)[0]);
    for (const VariablePtr& variable : variables)
      results.push_back(session.value(*variable).copy());
    return results;
  }
};

}  // namespace

TEST(plan_levels_give_the_bits_of_one_thread) {
  const Model model;
  const std::vector<Tensor> expected = model.run(1, 30);
  for (const int threads : {2, 3, 5, 8, 16}) {  // also more threads than the machine has
    context() = str_cat(threads, " threads");
    const std::vector<Tensor> more = model.run(threads, 30);
    CHECK_EQ(expected.size(), more.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      CHECK(std::memcmp(expected[i].raw(), more[i].raw(), expected[i].num_bytes()) == 0);
    }
  }
}

TEST(plan_levels_raise_the_first_error_and_change_nothing) {
  Model model;
  Graph& g = *model.graph;
  const Output row = g.op("Placeholder").attr("dtype", DType::kInt32).attr("shape", Shape{1});
  for (int i = 0; i < kColumns; ++i) {
    const Output picked =
        g.op("GatherV2", {model.sum, row, g.scalar(DType::kInt32, 0)}).named("picked");
    model.step.emplace_back(picked);
  }
  const Threads set(2);
  Session session(model.graph);
  for (const VariablePtr& variable : model.variables) session.run(variable->initializer);
  Tensor index(DType::kInt32, Shape{1});
  index.data<int32_t>()[0] = 3;
  for (int i = 0; i < 10; ++i) session.run(model.step, {{row, index}});
  const Tensor before = session.value(*model.variables[0]).copy();
  index.data<int32_t>()[0] = kRows;
  for (int i = 0; i < 10; ++i) {
    std::string message;
    try {
      session.run(model.step, {{row, index}});
    } catch (const Error& error) {
      message = error.what();
    }
    CHECK(message.find("is not in [0, 160)") != std::string::npos);
    CHECK(session.value(*model.variables[0]).equals(before));
  }
  index.data<int32_t>()[0] = 4;
  session.run(model.step, {{row, index}});
  CHECK(!session.value(*model.variables[0]).equals(before));
}

TEST(shared_work_runs_each_task_once) {
  for (const int threads : {1, 2, 3}) {
    for (int round = 0; round < 300; ++round) {
      std::vector<std::atomic<int>> counts(static_cast<size_t>(round % 7));
      parallel_for(
          counts.size(), threads,
          [](void* context, size_t i) {
            // Nested calls must not request further threads.
            (*static_cast<std::vector<std::atomic<int>>*>(context))[i] += kernel_threads();
          },
          &counts);
      for (const std::atomic<int>& count : counts) CHECK_EQ(count.load(), 1);
    }
  }
}
