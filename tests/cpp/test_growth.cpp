// The work before the first step is linear in the size of the graph. Compares the operations that
// passes visit for a model and for one with twice as many variables.
#include "base/complexity_counter.h"
#include "graph/lowering.h"
#include "monitored/run_requests.h"
#include "ops/state/gradient_helpers.h"
#include "session/session.h"
#include "test.h"
#include "training/optimizer.h"
#include "training/scaffold.h"

using namespace runhooks;

namespace {

// A weighted sum of `width` variables, each just large enough (4 KB) to be computed in a shared
// buffer.
struct WideModel {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::vector<Output> feeds;
  std::vector<VariablePtr> variables;
  Output loss;

  WideModel(int width, bool use_resource) {
    VariableOptions options;
    options.use_resource = use_resource;
    options.initializer = constant_initializer(1);
    std::vector<Output> terms;
    for (int i = 0; i < width; ++i) {
      variables.push_back(graph->variables().get(str_cat("v", i), Shape{1024}, options));
      feeds.push_back(
          graph->op("Placeholder").attr("dtype", DType::kFloat32).attr("shape", Shape()));
      terms.push_back(multiply(*graph, variables.back()->snapshot, feeds.back()));
    }
    loss =
        graph->op("Sum", {static_cast<Output>(graph->op("AddN", terms)), graph->int_vector({0})});
  }
  Operation* minimize() {
    Args args("Momentum");
    args.set("learning_rate", Value::of(0.5));
    args.set("momentum", Value::of(0.5));
    return make_optimizer("Momentum", args)->minimize(*graph, loss, nullptr);
  }
};

// Returns the number of visited operations in each phase.
std::vector<std::pair<std::string, uint64_t>> visits_of(int width, bool use_resource) {
  std::vector<std::pair<std::string, uint64_t>> terms;
  auto count = [&terms, before = pass_work_count()](const char* phase) mutable {
    terms.emplace_back(phase, pass_work_count() - before);
    before = pass_work_count();
  };
  WideModel model(width, use_resource);
  count("the graph");
  Operation* train = model.minimize();
  count("the gradients");
  Scaffold scaffold;
  scaffold.finalize(*model.graph);
  count("the scaffold");
  Session session(model.graph);
  session.run(scaffold.init_op);
  count("the initial values");
  RunArgs args;
  args.fetches = {train, Fetch(model.loss)};
  for (const Output& feed : model.feeds) args.feeds.emplace_back(feed, Tensor::scalar<float>(1));
  RunArgs of_hook;
  for (const VariablePtr& variable : model.variables)
    of_hook.fetches.emplace_back(variable->snapshot);
  const HookList hooks = {nullptr};
  RunRequests requests(hooks);
  requests.begin();
  requests.add(&of_hook);
  const MergedRun& merged = requests.merge(session, args);
  count("the plan of a step");
  merged.executor->run(merged.feed_values);
  count("the first step");
  lowered_graph(*model.graph);
  count("the graph for files");
  return terms;
}

}  // namespace

TEST(work_before_the_first_step_is_linear_in_the_graph) {
  for (const bool use_resource : {false, true}) {
    const auto once = visits_of(400, use_resource), twice = visits_of(800, use_resource);
    uint64_t total = 0;
    for (size_t i = 0; i < once.size(); ++i) {
      const auto& [phase, looks] = twice[i];
      runhooks_test::context() = str_cat(phase, ": ", once[i].second, " and ", looks);

      CHECK(looks <= once[i].second * 11 / 5 + 50);
      total += looks;
    }
    runhooks_test::context().clear();
    CHECK(total > 800 * 10);  // fails if the passes do not count their visits
  }
}
