// Tests distributed training with a fake communicator.
#include <cstring>

#include "cluster/communicator.h"
#include "cluster/step_barrier.h"
#include "estimators/replicas/replica_run.h"
#include "nn/initializer.h"
#include "nn/loss.h"
#include "nn/replicas.h"
#include "session/session.h"
#include "test.h"
#include "training/optimizer.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

// Simulates two processes with the same data. The other process always casts the vote `other`.
class TwoEqualProcesses : public Communicator {
 public:
  explicit TwoEqualProcesses(int64_t other = 0) : other_(other) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  int local_rank() const override { return 0; }
  std::string library() const override { return "none"; }
  void add(void* values, int64_t n, DType dtype) override {
    for (int64_t i = 0; i < n; ++i) {
      if (dtype == DType::kFloat32 && doubles_floats) static_cast<float*>(values)[i] *= 2;
      if (dtype == DType::kFloat64) static_cast<double*>(values)[i] *= 2;
      if (dtype == DType::kInt64 && doubles_integers) static_cast<int64_t*>(values)[i] *= 2;
    }
  }
  void largest(int64_t* values, int64_t n) override {
    for (int64_t i = 0; i < n; ++i) values[i] = std::max(values[i], 2 * other_);
  }
  void broadcast(void*, int64_t, int) override {}
  void gather(const void* own, int64_t n, void* all) override {
    auto* const bytes = static_cast<char*>(all);
    std::memcpy(bytes, own, static_cast<size_t>(n));
    std::memcpy(bytes + n, own, static_cast<size_t>(n));
    if (differ) bytes[2 * n - 1] ^= 1;
  }
  void abort(int) override { std::abort(); }
  void finish() override {}

  bool differ = false;  // whether the gathered data of both processes differ at their end
  bool doubles_integers = true, doubles_floats = true;

 private:
  int64_t other_;
};

struct TwoProcessScope {
  explicit TwoProcessScope(int64_t other = 0) {
    set_communicator(std::make_unique<TwoEqualProcesses>(other));
  }
  ~TwoProcessScope() {
    StepBarrier::close();
    set_communicator(nullptr);
  }
};

}  // namespace

TEST(cluster_one_process_adds_nothing) {
  const auto graph = std::make_shared<Graph>();
  const ReplicaScope scope(*graph, 1);
  CHECK(ReplicaScope::of(*graph) == nullptr);
  const Output x = graph->scalar(DType::kFloat32, 3);
  const int before = graph->version();
  CHECK(mean_over_replicas(*graph, x) == x);
  CHECK(sum_over_replicas(*graph, x) == x);
  CHECK_EQ(graph->version(), before);
}

TEST(cluster_loss_is_the_mean_of_local_losses) {
  const TwoProcessScope processes;
  for (const Reduction reduction : {Reduction::kSum, Reduction::kMean, Reduction::kSumOverBatchSize,
                                    Reduction::kSumByNonzeroWeights}) {
    const auto graph = std::make_shared<Graph>();
    const ReplicaScope scope(*graph, 2);
    const Output losses = graph->constant(Tensor::vector<float>({1, 2, 6}));
    const Output own = compute_weighted_loss(*graph, losses, Output(), reduction);
    const Output of_all = mean_over_replicas(*graph, own);
    Session session(graph);
    StepBarrier::open();
    const auto values = session.run({Fetch(of_all)});
    // Both processes have the same three rows, so the sum over all rows is twice that of one
    // process.
    CHECK_EQ(values[0].number_at(0), reduction == Reduction::kSum ? 18.0 : 3.0);
    StepBarrier::close();
  }
}

TEST(cluster_processes_communicate_only_in_steps) {
  const TwoProcessScope processes;
  const auto graph = std::make_shared<Graph>();
  const ReplicaScope scope(*graph, 2);
  const Output sum = sum_over_replicas(*graph, graph->scalar(DType::kFloat64, 4));
  Session session(graph);
  CHECK_THROWS(session.run({Fetch(sum)}), Code::kFailedPrecondition,
               "only in the steps of train()");
  StepBarrier::open();
  CHECK_EQ(session.run({Fetch(sum)})[0].number_at(0), 8.0);
  CHECK(StepBarrier::is_passed());
}

TEST(cluster_process_without_data_ends_the_step) {
  const TwoProcessScope processes(static_cast<int64_t>(StepDecision::kNoData));
  StepBarrier::open();
  CHECK_THROWS(StepBarrier::vote_ready(), Code::kOutOfRange, "has no more data");
  CHECK(!StepBarrier::is_passed());
}

TEST(cluster_gradients_are_averaged_once) {
  const TwoProcessScope processes;
  const auto graph = std::make_shared<Graph>();
  const ReplicaScope scope(*graph, 2);
  VariableOptions options;
  options.initializer = ones_initializer();
  const VariablePtr x = graph->variables().get("x", Shape{}, options);
  const Output loss = graph->op("Square", {x->snapshot});
  Args args("SGD");
  args.set("learning_rate", Value::of(0.5));
  const auto optimizer = make_optimizer("SGD", args);
  auto grads_and_vars = optimizer->compute_gradients(*graph, loss);
  CHECK(scope.has_gradients());
  CHECK(scope.has_mean_gradients(grads_and_vars[0].gradient.values));
  // This gradient is computed from an averaged one, as a clipped gradient is. It must not be
  // averaged again.
  grads_and_vars[0].gradient = graph->op("Neg", {grads_and_vars[0].gradient.values});
  const Operation* last = scope.last();
  optimizer->apply_gradients(*graph, grads_and_vars, nullptr);
  CHECK(scope.last() == last);
}

namespace {

// Simulates a broadcast from this process, or from another process that sends bytes of value 7.
class BroadcastProcesses : public TwoEqualProcesses {
 public:
  explicit BroadcastProcesses(bool other_sends) : other_sends_(other_sends) {}
  void gather(const void* own, int64_t n, void* all) override {
    TwoEqualProcesses::gather(own, n, all);
    const int64_t other = other_sends_;
    std::memcpy(static_cast<char*>(all) + n, &other, static_cast<size_t>(n));
  }
  void broadcast(void* bytes, int64_t n, int root) override {
    const auto size = static_cast<size_t>(n);
    if (root == 0) texts_.assign(static_cast<const char*>(bytes), size);
    if (root == 1 && size == texts_.size()) std::memcpy(bytes, texts_.data(), size);
    if (root == 1 && size == 3 * sizeof(float)) std::memset(bytes, 7, size);
  }

 private:
  bool other_sends_;
  std::string texts_;  // the last broadcast of this process, which the simulated process repeats
};

Output sent(Graph& graph, bool receives) {
  const Shape shape{3};
  const auto op = [&](OpBuilder builder) {
    return ordered_collective(graph, builder.attr("group_size", 2)
                                         .attr("group_key", 1)
                                         .attr("instance_key", 1)
                                         .attr("shape", shape))
        ->output(0);
  };
  if (receives) return op(graph.op("CollectiveBcastRecv").attr("T", DType::kFloat32));
  return op(graph.op("CollectiveBcastSend", {graph.constant(Tensor::vector<float>({3, 4, 5}))}));
}

}  // namespace

TEST(cluster_broadcasts_a_tensor) {
  for (const bool other_sends : {false, true}) {
    set_communicator(std::make_unique<BroadcastProcesses>(other_sends));
    const auto graph = std::make_shared<Graph>();
    ReplicaScope scope(*graph, 2);
    const Output right = sent(*graph, other_sends);
    CHECK_EQ(right.shape(), (Shape{3}));
    Session session(graph);
    StepBarrier::open();
    const Tensor received = session.run({Fetch(right)})[0];
    CHECK_EQ(received.data<float>()[1] == 4, !other_sends);
    StepBarrier::close();
  }
  for (const bool other_sends : {false, true}) {
    set_communicator(std::make_unique<BroadcastProcesses>(other_sends));
    const auto graph = std::make_shared<Graph>();
    ReplicaScope scope(*graph, 2);
    const Output wrong = sent(*graph, !other_sends);
    Session session(graph);
    StepBarrier::open();
    CHECK_THROWS(session.run({Fetch(wrong)}), Code::kFailedPrecondition,
                 other_sends ? "2 of 2 processes send" : "0 of 2 processes send");
    StepBarrier::close();
  }
  set_communicator(nullptr);
}

TEST(cluster_histograms_sum_over_all_processes) {
  const TwoProcessScope processes;
  const auto graph = std::make_shared<Graph>();
  ReplicaScope scope(*graph, 2);
  const auto column = [&](std::vector<float> x) {
    const auto n = static_cast<int64_t>(x.size());
    return graph->constant(Tensor::of<float>(Shape{n, 1}, x));
  };
  // Gradients of rows in the nodes 1 and 2. One row is in node 0, a leaf of the previous layer.
  const std::vector<Output> inputs = {
      graph->int_vector({1, 3}), graph->int_vector({1, 2, 1, 0}), column({1, 2, 4, 8}),
      column({0.5f, 1, 1, 1}),   graph->int_vector({0, 1, 1, 0}), graph->int_vector({1, 1, 0, 0})};
  const Output sums = ordered_collective(*graph, graph->op("BoostedTreesStatsSummaryOfAll", inputs)
                                                     .attr("max_splits", 4)
                                                     .attr("num_buckets", 2)
                                                     .attr("num_features", 2)
                                                     .attr("group_size", 2))
                          ->output(0);
  CHECK_EQ(sums.shape(), (Shape{2, 4, 2, 2}));
  Session session(graph);
  StepBarrier::open();
  const Tensor received = session.run({Fetch(sums)})[0];
  const std::vector<float> wanted = {
      0, 0, 0, 0, /* node 1 */ 2, 1, 8, 2, /* node 2 */ 0, 0, 4, 2, 0, 0, 0, 0,
      0, 0, 0, 0, /* node 1 */ 8, 2, 2, 1, /* node 2 */ 0, 0, 4, 2, 0, 0, 0, 0};
  for (size_t i = 0; i < wanted.size(); ++i) CHECK_EQ(received.data<float>()[i], wanted[i]);
}

TEST(cluster_quantiles_use_the_rows_of_all_processes) {
  // The simulated process contributes nothing to sums of integers and float32 numbers, because each
  // of them comes from one process only.
  auto processes = std::make_unique<TwoEqualProcesses>();
  processes->doubles_integers = false;
  processes->doubles_floats = false;
  set_communicator(std::move(processes));
  const auto graph = std::make_shared<Graph>();
  ReplicaScope scope(*graph, 2);
  const Output x = graph->constant(Tensor::vector<float>({3, 1, 2}));
  Operation* collective = ordered_collective(
      *graph,
      graph->op("BoostedTreesQuantileSummariesOfAll", {x, graph->scalar(DType::kFloat32, 0.01)})
          .attr("num_features", 1)
          .attr("group_size", 2));
  Session session(graph);
  StepBarrier::open();
  const Tensor received = session.run({Fetch(collective->output(0))})[0];
  CHECK_EQ(received.shape(), (Shape{3, 4}));
  for (int64_t i = 0; i < 3; ++i) {
    CHECK_EQ(received.data<float>()[4 * i], static_cast<float>(i + 1));
    CHECK_EQ(received.data<float>()[4 * i + 1], 2.0f);
  }
  StepBarrier::close();
  set_communicator(nullptr);
}

TEST(cluster_names_a_variable_that_differs) {
  auto processes = std::make_unique<TwoEqualProcesses>();
  TwoEqualProcesses& other = *processes;
  set_communicator(std::move(processes));
  const auto graph = std::make_shared<Graph>();
  VariableOptions options;
  options.initializer = ones_initializer();
  std::vector<Fetch> initializers;
  for (const char* name : {"a", "b"}) {
    initializers.emplace_back(graph->variables().get(name, Shape{2}, options)->initializer);
  }
  const HookPtr hook = replica_hook();
  hook->begin(*graph);
  Session session(graph);
  session.run(initializers);
  hook->end(session);
  other.differ = true;
  CHECK_THROWS(hook->end(session), Code::kInternal,
               "'b:0' differs between process 1 and process 0");
  set_communicator(nullptr);
}
