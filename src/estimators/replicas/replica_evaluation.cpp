#include "estimators/replicas/replica_evaluation.h"

#include <algorithm>
#include <set>

#include "cluster/communicator.h"
#include "graph/ancestors.h"
#include "graph/variable.h"
#include "session/session.h"

namespace runhooks {

namespace {

std::set<std::string> summed_variables(const Graph& graph) {
  std::set<std::string> names;
  for (const VariablePtr& variable : variables_in(graph, collection_keys::kMetricVariables)) {
    const DType dtype = variable->dtype;
    const bool is_summable = dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
                             dtype == DType::kInt32 || dtype == DType::kInt64;
    if (is_summable) names.insert(variable->handle.op->name());
  }
  return names;
}

// Whether the op adds to its variable. Lists op types, because op definitions do not declare it.
bool is_add_assignment(const Operation& op) {
  return op.type() == "AssignAdd" ||          // lint: allow op-type
         op.type() == "AssignAddVariableOp";  // lint: allow op-type
}

// Whether updates of the metric only add to its variables.
bool is_sum(const Metric& metric, const std::set<std::string>& sums) {
  return !find_ancestor(metric.update, Through::kInputsAndControl, [&sums](const Operation& op) {
    const std::vector<int>& mutated_inputs = op.def().mutates;
    return std::any_of(mutated_inputs.begin(), mutated_inputs.end(), [&](int input) {
      return !is_add_assignment(op) || sums.count(op.input(input).op->name()) == 0;
    });
  });
}

class SumMetricsHook : public RunHook {
 public:
  std::string name() const override { return "SumMetricsHook"; }
  void begin(Graph& graph) override {
    variables_ = variables_in(graph, collection_keys::kMetricVariables);
  }
  void end(Session& session) override {
    for (const VariablePtr& variable : variables_) {
      Tensor sum = session.value(*variable).copy();
      communicator().add(sum.raw(), sum.num_elements(), sum.dtype());
      assign_variable(session.resources(), *variable, sum);
    }
  }

 private:
  std::vector<VariablePtr> variables_;
};

}  // namespace

bool metrics_are_sums(const Graph& graph, const Named<Metric>& metrics) {
  const std::set<std::string> sums = summed_variables(graph);
  return std::all_of(metrics.begin(), metrics.end(),
                     [&sums](const auto& metric) { return is_sum(metric.second, sums); });
}

HookPtr sum_metrics_hook() { return std::make_shared<SumMetricsHook>(); }

}  // namespace runhooks
