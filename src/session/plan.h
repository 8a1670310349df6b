// What lives here: Plan, the compiled form of one set of fetches and feeds: what runs, in which order, with which buffers.
// Who may use it: session.
// What it must not know: the state of a run, hooks, what the operations compute, R.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/output_set.h"
#include "session/fetch.h"
#include "session/node_table.h"

namespace runhooks {

// The order of a run is fixed when the plan is made: operations that change a variable come after
// everything that does not depend on such a change, so what is read or fetched beside a training
// step is the value before it. A value that is fetched is copied right after it is computed.
//
// Work that depends on shapes and constants only (shape functions, allocation, constants, shape
// arithmetic) is invariant: it is done when shapes change, not in every run.
class Plan {
 public:
  struct ResultCopy {
    const Slot* source;
    size_t result;
  };
  struct Node {
    NodeItem* item = nullptr;
    NodeEntry* entry = nullptr;
    int level = 0;  // those of one level may run side by side
    InputSet invariant_inputs;
    // All inputs are of that kind: computed when prepared.
    bool is_invariant = false;
    // Reads a variable whose value is used after the variable is changed.
    bool needs_snapshot = false;
    std::vector<ResultCopy> copies;
  };

  Plan(std::shared_ptr<NodeTable> table,
       const std::vector<Fetch>& fetches,
       const std::vector<Output>& feeds);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  NodeTable& table() const { return *table_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<std::pair<Output, Slot*>>& feeds() const { return feeds_; }
  // Of fetches that are fed.
  const std::vector<ResultCopy>& fed_copies() const { return fed_copies_; }
  size_t num_results() const { return num_results_; }
  const Liveness& liveness() const { return liveness_; }

 private:
  bool is_fed(const Output& output) const { return fed_.count(output) > 0; }
  Node make_node(Operation& op, int level);
  void add_copies(const std::vector<Fetch>& fetches);
  void mark_snapshots();
  void find_live_ranges();
  void join_table();

  std::shared_ptr<NodeTable> table_;
  std::vector<Node> nodes_;
  std::unordered_map<const Operation*, size_t> positions_;  // among the nodes
  std::vector<std::pair<Output, Slot*>> feeds_;
  OutputSet fed_;
  std::vector<ResultCopy> fed_copies_;
  size_t num_results_;
  Liveness liveness_;
};

// The operations that the fetches need, in the order in which a plan runs them.
std::vector<Operation*> ordered_operations(const std::vector<Fetch>& fetches,
                                           const OutputSet& feeds);

}  // namespace runhooks
