// ReplicaScope: builds the graph of one of several training processes, and the collective ops among
// them.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// While in scope, training ops are added for `replicas` processes. The loss of each process is
// scaled so that its mean over processes is the loss of all rows; gradients are averaged. A single
// process adds nothing.
class ReplicaScope {
 public:
  ReplicaScope(Graph& graph, int replicas);
  ~ReplicaScope();
  ReplicaScope(const ReplicaScope&) = delete;
  ReplicaScope& operator=(const ReplicaScope&) = delete;
  // NULL if one process trains the graph.
  static ReplicaScope* of(const Graph& graph);

  int replicas() const { return replicas_; }
  // Graph seed for draws that must be equal in all processes.
  int64_t seed = 0;
  // Batch normalization uses the moments of all processes' rows instead of each process's own.
  bool sync_batch_norm = false;
  // Adds a collective op. Every step runs all collective ops in the order of their creation;
  // otherwise two processes would wait in different ops and deadlock. A gate before the first one
  // waits for the data. Ops are added late, because initial values depend on the number of ops in
  // the graph.
  Operation* add(OpBuilder builder);
  // The op that depends on all collective ops; NULL without any.
  Operation* last() const { return last_; }
  // Adds a conditional with collective ops in its branches; its predicate must be equal in all
  // processes.
  Operation* add_conditional(const std::function<Operation*()>& build);
  // After the gate, all processes have the data of the step.
  Operation* data_gate();
  void mark_mean_gradients(const Operation* op) { mean_gradients_.insert(op); }
  bool has_gradients() const { return !mean_gradients_.empty(); }
  // Whether `x` was computed from gradients of all processes.
  bool has_mean_gradients(const Output& x) const;
  // Marks a loss whose mean over processes is the loss of all rows.
  void mark_mean_loss(const Operation* op) { losses_.insert(op); }
  bool is_loss(const Operation* op) const { return losses_.count(op) > 0; }
  void mark_mean(const Operation* op) { means_.insert(op); }
  // Whether mean_over_replicas() returned `x`.
  bool is_mean(const Output& x) const { return means_.count(x.op) > 0; }

 private:
  Operation* make_gate();

  Graph& graph_;
  int replicas_;
  ReplicaScope* outer_;
  Operation *data_gate_ = nullptr, *last_ = nullptr;
  std::set<const Operation*> mean_gradients_, losses_, means_;
};

// 1 if one process trains the graph.
int replicas_of(const Graph& graph);
// Sum or mean over all processes; `x` itself for one process.
Output sum_over_replicas(Graph& graph, Output x);
Output mean_over_replicas(Graph& graph, Output x);
// A sum through which gradients of all processes' losses flow back to each process.
Output differentiable_sum_over_replicas(Graph& graph, Output x);
// The sum over all processes, inside a branch that all of them take.
Output sum_in_uniform_branch(Graph& graph, Output x);
// Adds a collective op in sequence. Within a branch, where ops are already ordered, and for one
// process, it is added unchanged.
Operation* ordered_collective(Graph& graph, OpBuilder builder);
// Ops added while in scope do not count for default seeds, so later draws equal those of a single
// process.
class SharedSeedScope {
 public:
  explicit SharedSeedScope(Graph& graph);
  ~SharedSeedScope();
  SharedSeedScope(const SharedSeedScope&) = delete;
  SharedSeedScope& operator=(const SharedSeedScope&) = delete;

 private:
  Graph& graph_;
  int64_t number_;
};

// Averages gradients over processes: dense ones are concatenated by type, sparse rows are gathered.
// All gradients must be valid.
std::vector<Gradient> mean_gradients(Graph& graph, const std::vector<Gradient>& gradients);

}  // namespace runhooks
