#include "nn/replicas.h"

#include <map>

#include "graph/ancestors.h"
#include "graph/op_registry.h"

namespace runhooks {

namespace {

ReplicaScope*& current_scope() {
  static ReplicaScope* scope = nullptr;
  return scope;
}

OpBuilder collective_reduce(Graph& graph, Output x, const char* final_op) {
  return graph.op("CollectiveReduce", {x})
      .attr("group_size", replicas_of(graph))
      .attr("group_key", 1)
      .attr("instance_key", graph.version())
      .attr("merge_op", "Add")
      .attr("final_op", final_op)
      .attr("subdiv_offsets", std::vector<int64_t>{0});
}

Operation* add_reduction(Graph& graph, Output x, const char* final_op) {
  const SharedSeedScope same(graph);
  if (graph.is_function()) {
    fail(Code::kUnimplemented, "'", x.name(), "' is a sum over all training processes, which ",
         "branches and loops do not support: they may not run in every process.");
  }
  return ordered_collective(graph, collective_reduce(graph, x, final_op));
}

Gradient gather_slices(Graph& graph, const Gradient& gradient) {
  ReplicaScope& scope = *ReplicaScope::of(graph);
  const auto gather = [&](Output x) {
    return scope
        .add(graph.op("CollectiveGather", {x})
                 .attr("group_size", scope.replicas())
                 .attr("group_key", 1)
                 .attr("instance_key", graph.version())
                 .attr("shape", Shape::unknown()))
        ->output(0);
  };
  Gradient all = gradient;
  all.indices = gather(gradient.indices);
  const Output rows = gather(gradient.values);
  all.values =
      graph.op("RealDiv", {rows, graph.scalar(rows.dtype(), scope.replicas(), "num_replicas")});
  return all;
}

}  // namespace

ReplicaScope::ReplicaScope(Graph& graph, int replicas)
    : graph_(graph), replicas_(replicas), outer_(current_scope()) {
  current_scope() = this;
}
ReplicaScope::~ReplicaScope() { current_scope() = outer_; }

ReplicaScope* ReplicaScope::of(const Graph& graph) {
  ReplicaScope* scope = current_scope();
  return scope && scope->replicas_ > 1 && &scope->graph_ == &graph.root() ? scope : nullptr;
}

Operation* ReplicaScope::add_gate() {
  std::vector<Operation*> data_readers;
  for (const CollectionItem& item : graph_.collection("iterators")) {
    const auto* handle = std::get_if<Output>(&item);
    if (!handle) continue;
    for (const auto& op : graph_.operations()) {
      for (const Output& input : op->inputs()) {
        if (input == *handle && op->num_outputs() > 0) data_readers.push_back(op.get());
      }
    }
  }
  const NameScope root(graph_, "");
  const ControlDependencies no_controls(graph_, {}, /*clears=*/true);
  return graph_.op("ReplicaGate").after(data_readers).named("replica_gate");
}

Operation* ReplicaScope::data_gate() {
  if (!data_gate_) last_collective_op_ = data_gate_ = add_gate();
  return data_gate_;
}

Operation* ReplicaScope::add(OpBuilder builder) {
  const ControlDependencies no_controls(graph_, {}, /*clears=*/true);
  data_gate();
  last_collective_op_ = builder.after({last_collective_op_});
  return last_collective_op_;
}

Operation* ReplicaScope::add_conditional(const std::function<Operation*()>& build) {
  data_gate();
  const ControlDependencies after(graph_, {last_collective_op_});
  last_collective_op_ = build();
  return last_collective_op_;
}

bool ReplicaScope::has_mean_gradients(const Output& x) const {
  const auto is_gradient = [this](const Operation& op) { return mean_gradients_.count(&op) > 0; };
  return find_ancestor(x.op, Through::kInputs, is_gradient) != nullptr;
}

int replicas_of(const Graph& graph) {
  const ReplicaScope* scope = ReplicaScope::of(graph);
  return scope ? scope->replicas() : 1;
}

Output sum_over_replicas(Graph& graph, Output x) {
  return replicas_of(graph) == 1 ? x : add_reduction(graph, x, "Id")->output(0);
}

Output mean_over_replicas(Graph& graph, Output x) {
  if (replicas_of(graph) == 1) return x;
  Operation* mean = add_reduction(graph, x, "Div");
  ReplicaScope::of(graph)->mark_mean(mean);
  return mean->output(0);
}

namespace {

// The gradient of a sum over processes: the losses of all processes depend on the addend of this
// process. So the gradient is also a sum over all processes.
class SumGradient : public GradientOverride {
 public:
  std::vector<Gradient> gradient(Graph& graph, Operation&, const std::vector<Output>& dy) override {
    return {Gradient(differentiable_sum_over_replicas(graph, dy[0]))};
  }
};

}  // namespace

Output differentiable_sum_over_replicas(Graph& graph, Output x) {
  if (replicas_of(graph) == 1) return x;
  Operation* sum = add_reduction(graph, x, "Id");
  sum->gradient_override = std::make_shared<SumGradient>();
  return sum->output(0);
}

Output sum_in_uniform_branch(Graph& graph, Output x) {
  if (replicas_of(graph) == 1) return x;
  return ordered_collective(graph, collective_reduce(graph, x, "Id"))->output(0);
}

Operation* ordered_collective(Graph& graph, OpBuilder builder) {
  ReplicaScope* scope = ReplicaScope::of(graph);
  return scope && !graph.is_function() ? scope->add(builder) : builder;
}

SharedSeedScope::SharedSeedScope(Graph& graph)
    : graph_(graph), saved_seed_number_(graph.seed_number()) {}
SharedSeedScope::~SharedSeedScope() { graph_.set_seed_number(saved_seed_number_); }

std::vector<Gradient> mean_gradients(Graph& graph, const std::vector<Gradient>& gradients) {
  ReplicaScope& scope = *ReplicaScope::of(graph);
  std::vector<Gradient> means = gradients;
  std::map<DType, std::vector<size_t>> dense;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].is_indexed_slices()) {
      dense[gradients[i].values.dtype()].push_back(i);
      continue;
    }
    means[i] = gather_slices(graph, gradients[i]);
    scope.mark_mean_gradients(means[i].values.op);
  }
  for (const auto& [dtype, positions] : dense) {
    std::vector<Output> inputs;
    for (const size_t i : positions) inputs.push_back(gradients[i].values);
    const Operation* op = scope.add(graph.op("CollectiveReduceTogether", inputs)
                                        .attr("group_size", scope.replicas())
                                        .attr("group_key", 1)
                                        .attr("instance_key", graph.version()));
    scope.mark_mean_gradients(op);
    for (size_t k = 0; k < positions.size(); ++k) {
      means[positions[k]].values = Output(const_cast<Operation*>(op), static_cast<int>(k));
    }
  }
  return means;
}

}  // namespace runhooks
