// Several processes: what one of them computes, with a stand-in for the others.
#include <cstring>

#include "cluster/communicator.h"
#include "cluster/step_gate.h"
#include "estimators/replica_run.h"
#include "nn/initializer.h"
#include "nn/loss.h"
#include "nn/replicas.h"
#include "session/session.h"
#include "test.h"
#include "training/optimizer.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

// The other process has what this one has, and says `other` where they agree.
class Twins : public Communicator {
 public:
  explicit Twins(int64_t other = 0) : other_(other) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  int local_rank() const override { return 0; }
  std::string library() const override { return "none"; }
  void add(void* values, int64_t n, DType dtype) override {
    for (int64_t i = 0; i < n; ++i) {
      if (dtype == DType::kFloat32) static_cast<float*>(values)[i] *= 2;
      if (dtype == DType::kFloat64) static_cast<double*>(values)[i] *= 2;
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

  bool differ = false;  // in the end of what is gathered

 private:
  int64_t other_;
};

struct WithTwins {
  explicit WithTwins(int64_t other = 0) { set_communicator(std::make_unique<Twins>(other)); }
  ~WithTwins() {
    StepGate::close();
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

TEST(cluster_losses_of_a_process_have_the_loss_of_all_as_their_mean) {
  const WithTwins twins;
  for (const Reduction reduction :
       {Reduction::kSum, Reduction::kMean, Reduction::kSumOverBatchSize,
        Reduction::kSumByNonzeroWeights}) {
    const auto graph = std::make_shared<Graph>();
    const ReplicaScope scope(*graph, 2);
    const Output losses = graph->constant(Tensor::vector<float>({1, 2, 6}));
    const Output own = compute_weighted_loss(*graph, losses, Output(), reduction);
    const Output of_all = mean_over_replicas(*graph, own);
    Session session(graph);
    StepGate::open();
    const auto values = session.run({Fetch(of_all)});
    // both have the same three rows
    CHECK_EQ(values[0].number_at(0), reduction == Reduction::kSum ? 18.0 : 3.0);
    StepGate::close();
  }
}

TEST(cluster_processes_speak_in_steps_alone) {
  const WithTwins twins;
  const auto graph = std::make_shared<Graph>();
  const ReplicaScope scope(*graph, 2);
  const Output sum = sum_over_replicas(*graph, graph->scalar(DType::kFloat64, 4));
  Session session(graph);
  CHECK_THROWS(session.run({Fetch(sum)}), Code::kFailedPrecondition, "in the steps of train() alone");
  StepGate::open();
  CHECK_EQ(session.run({Fetch(sum)})[0].number_at(0), 8.0);
  CHECK(StepGate::is_passed());
}

TEST(cluster_a_process_without_data_ends_the_step_of_all) {
  const WithTwins twins(static_cast<int64_t>(GoesOn::kNoData));
  StepGate::open();
  CHECK_THROWS(StepGate::pass(), Code::kOutOfRange, "has no more data");
  CHECK(!StepGate::is_passed());
}

TEST(cluster_gradients_are_the_means_of_all_once) {
  const WithTwins twins;
  const auto graph = std::make_shared<Graph>();
  const ReplicaScope scope(*graph, 2);
  VariableOptions options;
  options.initializer = ones_initializer();
  const VariablePtr x = graph->variables().get("x", Shape{}, options);
  const Output loss = graph->op("Square", {x->snapshot});
  Args args("SGD");
  args.set("learning_rate", Value::of(0.5));
  const auto optimizer = make_optimizer("SGD", args);
  auto pairs = optimizer->compute_gradients(*graph, loss);
  CHECK(scope.has_gradients());
  CHECK(scope.is_of_all(pairs[0].gradient.values));
  // what was clipped is of all, too, and not taken once more
  pairs[0].gradient = graph->op("Neg", {pairs[0].gradient.values});
  const Operation* last = scope.last();
  optimizer->apply_gradients(*graph, pairs, nullptr);
  CHECK(scope.last() == last);
}

TEST(cluster_a_variable_that_is_another_elsewhere_is_named) {
  auto twins = std::make_unique<Twins>();
  Twins& other = *twins;
  set_communicator(std::move(twins));
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
  CHECK_THROWS(hook->end(session), Code::kInternal, "'b:0' is not the same in process 1");
  set_communicator(nullptr);
}
