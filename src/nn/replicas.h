// ReplicaScope: builds the graph of one process of a distributed training. Also declares functions
// that add collective ops.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// While in scope, training operations are added for `replicas` processes. The loss of each process
// is scaled so that its mean over all processes is the loss of all rows, and gradients are
// averaged. With one process, no operations are added.
class ReplicaScope {
 public:
  ReplicaScope(Graph& graph, int replicas);
  ~ReplicaScope();
  ReplicaScope(const ReplicaScope&) = delete;
  ReplicaScope& operator=(const ReplicaScope&) = delete;
  // Returns the scope of this graph; NULL if one process trains the graph.
  static ReplicaScope* of(const Graph& graph);

  int replicas() const { return replicas_; }
  // The graph seed for draws that must be equal in all processes.
  int64_t seed = 0;
  // Whether batch normalization uses the moments of the rows of all processes.
  bool sync_batch_norm = false;
  // Adds a collective op, in which all processes exchange data. Every step runs all collective ops
  // in creation order; otherwise two processes could wait in different ops and deadlock. A gate op
  // before the first one waits for the data. Nothing is added earlier than needed, because default
  // seeds depend on the number of ops.
  Operation* add(OpBuilder builder);
  // Returns the newest collective op, which runs after all others; NULL if none exists.
  Operation* last() const { return last_collective_op_; }
  // Adds a conditional whose branches contain collective ops. Its predicate must be equal in all
  // processes.
  Operation* add_conditional(const std::function<Operation*()>& build);
  // Returns the gate op. When it has run, all processes have the data of the step.
  Operation* data_gate();
  // Declares that the outputs of `op` are gradients averaged over all processes.
  void mark_mean_gradients(const Operation* op) { mean_gradients_.insert(op); }
  bool has_gradients() const { return !mean_gradients_.empty(); }
  // Whether `x` was computed from gradients that are averaged over all processes.
  bool has_mean_gradients(const Output& x) const;
  // Declares that the mean of this loss over processes is the loss of all rows.
  void mark_mean_loss(const Operation* op) { mean_losses_.insert(op); }
  bool is_loss(const Operation* op) const { return mean_losses_.count(op) > 0; }
  void mark_mean(const Operation* op) { mean_ops_.insert(op); }
  // Whether mean_over_replicas() returned `x`.
  bool is_mean(const Output& x) const { return mean_ops_.count(x.op) > 0; }

 private:
  Operation* add_gate();

  Graph& graph_;
  int replicas_;
  ReplicaScope* outer_;
  Operation *data_gate_ = nullptr, *last_collective_op_ = nullptr;
  std::set<const Operation*> mean_gradients_, mean_losses_, mean_ops_;
};

// Returns the number of processes that train the graph.
int replicas_of(const Graph& graph);
// Add ops that compute the sum or mean over all processes; return `x` itself if there is one
// process.
Output sum_over_replicas(Graph& graph, Output x);
Output mean_over_replicas(Graph& graph, Output x);
// Like sum_over_replicas(), but the gradient includes the losses of all processes.
Output differentiable_sum_over_replicas(Graph& graph, Output x);
// Like sum_over_replicas(), inside a branch that all processes take in the same step.
Output sum_in_uniform_branch(Graph& graph, Output x);
// Adds a collective op that runs after all others. Inside a branch, or with one process, adds it
// without this order.
Operation* ordered_collective(Graph& graph, OpBuilder builder);
// Operations that are added while in scope do not count for default seeds. So later random ops get
// the same seeds as in a single process.
class SharedSeedScope {
 public:
  explicit SharedSeedScope(Graph& graph);
  ~SharedSeedScope();
  SharedSeedScope(const SharedSeedScope&) = delete;
  SharedSeedScope& operator=(const SharedSeedScope&) = delete;

 private:
  Graph& graph_;
  int64_t saved_seed_number_;
};

// Averages gradients over all processes. One collective op per data type reduces all dense
// gradients; the rows of sparse gradients are gathered. All gradients must be valid.
std::vector<Gradient> mean_gradients(Graph& graph, const std::vector<Gradient>& gradients);

}  // namespace runhooks
