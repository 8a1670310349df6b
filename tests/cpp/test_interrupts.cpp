// Tests operations that the user can interrupt, and their interrupt checks.
#include <cstring>
#include <functional>
#include <numeric>

#include "autodiff/gradients.h"
#include "base/threads.h"
#include "dataset_kinds.h"
#include "interrupts_test.h"
#include "io/events/event_file.h"
#include "io/graphs/graph_def.h"
#include "kernels/kernels.h"
#include "ops/state/gradient_helpers.h"
#include "session/session.h"
#include "test.h"
#include "threads_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

Tensor waves(const Shape& shape) {
  Tensor x(DType::kFloat32, shape);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    x.data<float>()[i] = static_cast<float>((i * 7919) % 1000 - 500) / 500;
  }
  return x;
}

bool has_bits_of(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.num_bytes()) == 0;
}

}  // namespace

TEST(interrupt_within_a_long_product) {
  constexpr int64_t kRows = 1100, kInner = 1024;
  const Tensor a = waves({kRows, kInner}), b = waves({kInner, kInner});
  Tensor product(DType::kFloat32, {kRows, kInner});
  for (const int threads : {1, 2}) {
    const Threads set(threads);
    kernels().gemm->of_float.product(false, false, kRows, kInner, kInner, a.data<float>(),
                                     b.data<float>(), product.data<float>(), false, threads);
    const auto graph = std::make_shared<Graph>();
    const Output x = graph->op("Placeholder").attr("dtype", DType::kFloat32);
    const Output y = graph->op("MatMul", {x, graph->constant(b, "b")});
    Session session(graph);
    const auto run = [&] { return session.run({Fetch(y)}, {{x, a}})[0]; };
    run();
    // Expects one check in the operation and one after it.
    CHECK(count_interrupt_checks([&] { CHECK(has_bits_of(run(), product)); }) >= 2);
    bool stopped = false;
    count_interrupt_checks([&] { run(); }, 1, &stopped);
    CHECK(stopped);
    CHECK(has_bits_of(run(), product));
  }
}

TEST(interrupt_within_a_long_loop_over_elements) {
  const Tensor x = waves({5, 1 << 20});
  for (const int threads : {1, 2}) {
    const Threads set(threads);
    const auto graph = std::make_shared<Graph>();
    const Output fed = graph->op("Placeholder").attr("dtype", DType::kFloat32);
    const Output y = graph->op("Tanh", {fed});
    const Output start = graph->constant(waves({5, 1 << 20}), "start");
    const VariablePtr v = make_variable(*graph, start, "v", VariableOptions());
    Operation* const changed = graph->op("AssignAdd", {v->handle, y});
    Session session(graph);
    session.run({Fetch(v->initializer)}, {});
    const auto run = [&] { return session.run({Fetch(y)}, {{fed, x}})[0]; };
    const Tensor complete = run();
    CHECK(count_interrupt_checks([&] { CHECK(has_bits_of(run(), complete)); }) >= 5);
    bool stopped = false;
    CHECK_EQ(count_interrupt_checks([&] { run(); }, 3, &stopped), 3);
    CHECK(stopped);
    CHECK(has_bits_of(run(), complete));
    // An operation that updates a variable is not interrupted. Interrupts are checked before and
    // after it.
    session.run({Fetch(changed)}, {{fed, x}});
    const Tensor before = session.run({Fetch(v->snapshot)}, {})[0];
    for (int at = 1; at < 100; ++at) {
      count_interrupt_checks([&] { session.run({Fetch(changed)}, {{fed, x}}); }, at, &stopped);
      if (!stopped) break;
      const Tensor value = session.run({Fetch(v->snapshot)}, {})[0];
      CHECK(has_bits_of(value, before));
    }
    CHECK(!stopped);
  }
}

TEST(interrupt_of_gradients_and_graph_export) {
  const auto graph = std::make_shared<Graph>();
  const Output x = graph->op("Placeholder").attr("dtype", DType::kFloat32);
  Output y = x;
  for (int i = 0; i < 100; ++i) y = graph->op("Tanh", {y});
  bool stopped = false;
  // Interrupts are checked at time intervals, but the first check is immediate.
  count_interrupt_checks([&] { gradients(*graph, {y}, {x}); }, 1, &stopped);
  CHECK(stopped);
  WireWriter nodes;
  count_interrupt_checks([&] { GraphDefWriter(*graph, GraphDefOptions()).put_new_nodes(nodes); }, 1,
                         &stopped);
  CHECK(stopped);
}

TEST(interrupt_of_gathering_a_large_batch) {
  const DatasetPtr rows = range_of(3000000);
  std::vector<int64_t> numbers(3000000);
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  const auto gather = [&] {
    ComponentsSink sink;
    rows->row_table()->put_stacked(numbers.data(), 3000000, sink);
    return sink.take()[0];
  };
  CHECK(count_interrupt_checks([&] { CHECK(has_bits_of(gather(), Tensor::vector(numbers))); }) >=
        2);
  CHECK(can_be_stopped(gather));
}

TEST(interrupt_of_reading_events) {
  const std::string folder = str_cat(temporary_folder(), "/interrupt_events");
  EventFileWriter writer(folder);
  for (int step = 0; step < 100; ++step) writer.add_scalars({{"loss", 1}}, step);
  writer.close();
  CHECK(can_be_stopped([&] { read_events(writer.path()); }));
}
