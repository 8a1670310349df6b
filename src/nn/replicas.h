// What lives here: a graph that each of several processes trains on its part of the data, and what it computes of all.
// Who may use it: nn, training, estimators, while they build such a graph.
// What it must not know: particular losses, optimizers or models, R.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// While it lives, what is added to the graph for a step of training is added for so many processes:
// the loss of each is one whose mean over all processes is the loss of all rows, and gradients are
// the mean of all. In one process nothing is added.
class ReplicaScope {
 public:
  ReplicaScope(Graph& graph, int replicas);
  ~ReplicaScope();
  ReplicaScope(const ReplicaScope&) = delete;
  ReplicaScope& operator=(const ReplicaScope&) = delete;
  // NULL where the graph is trained by one process.
  static ReplicaScope* of(const Graph& graph);

  int replicas() const { return replicas_; }
  // That of the graph, where all processes draw the same.
  int64_t seed = 0;
  // Batch normalization takes the moments of the rows of all, and not of those of each process.
  bool normalizes_together = false;
  // One of the operations by which processes speak. All run in every step, in the order in which they
  // were added: else one would wait for another's other one. The first comes behind a gate, at which
  // the data are there. It is added late: initial values depend on how many operations there are.
  Operation* add(OpBuilder builder);
  // What runs them all; an invalid one where there are none.
  Operation* last() const { return last_; }
  // The same for what `build` adds: a choice that is the same in all processes, with such
  // operations in its branches.
  Operation* add_choice(const std::function<Operation*()>& build);
  // Behind it all have the data of a step.
  Operation* gate();
  void note_gradients(const Operation* op) { of_gradients_.insert(op); }
  bool has_gradients() const { return !of_gradients_.empty(); }
  // Whether `x` is made of gradients of all.
  bool is_of_all(const Output& x) const;
  // A loss whose mean over all processes is the loss of all rows.
  void note_loss(const Operation* op) { losses_.insert(op); }
  bool is_loss(const Operation* op) const { return losses_.count(op) > 0; }
  void note_mean(const Operation* op) { means_.insert(op); }
  // Whether `x` is what mean_over_replicas() gave.
  bool is_mean(const Output& x) const { return means_.count(x.op) > 0; }

 private:
  Operation* make_gate();

  Graph& graph_;
  int replicas_;
  ReplicaScope* outer_;
  Operation *gate_ = nullptr, *last_ = nullptr;
  std::set<const Operation*> of_gradients_, losses_, means_;
};

// 1 where the graph is trained by one process.
int replicas_of(const Graph& graph);
// The sum over all processes, or their mean; `x` itself in one process.
Output sum_over_replicas(Graph& graph, Output x);
Output mean_over_replicas(Graph& graph, Output x);
// The sum, where gradients of the losses of all processes flow back to each of them.
Output differentiable_sum_over_replicas(Graph& graph, Output x);
// The sum over all processes in a branch that all of them take.
Output sum_in_uniform_branch(Graph& graph, Output x);
// Such an operation in its turn; in one process, and in a branch, whose operations have one order,
// as it is.
Operation* in_turn(Graph& graph, OpBuilder builder);
// What is added while it lives is not counted: what is drawn behind it is what one process draws.
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

// The means of gradients: dense ones of one type go together, rows are gathered. None of them is
// "none".
std::vector<Gradient> mean_gradients(Graph& graph, const std::vector<Gradient>& gradients);

}  // namespace runhooks
