// Plan: the compiled form of one set of fetches and feeds, with the order of nodes and their
// buffers.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/output_set.h"
#include "session/fetch.h"
#include "session/node_table.h"

namespace runhooks {

// The order is fixed when the plan is built. Operations that change a variable come after all
// operations that do not depend on the change. So if a run both fetches a variable and trains, it
// returns the value before the step. Fetched values are copied right after they are computed.
//
// A node is invariant if its outputs depend only on shapes and constants. It is computed again only
// when shapes change.
class Plan {
 public:
  struct ResultCopy {
    const Slot* source;
    size_t result;
  };
  struct Node {
    NodeItem* item = nullptr;
    NodeEntry* entry = nullptr;
    int level = 0;  // nodes of one level may run concurrently
    InputSet invariant_inputs;
    // True if all inputs are invariant; the node then runs only during preparation.
    bool is_invariant = false;
    // True if the node reads a variable, and its result is used after the variable has changed.
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
  // Copies of fetches that are also fed.
  const std::vector<ResultCopy>& fed_copies() const { return fed_copies_; }
  size_t num_results() const { return num_results_; }

 private:
  bool is_fed(const Output& output) const { return fed_.count(output) > 0; }
  Node make_node(Operation& op, int level);
  void add_copies(const std::vector<Fetch>& fetches);
  void mark_snapshots();
  void find_live_ranges();
  void join_table();

  std::shared_ptr<NodeTable> table_;
  std::vector<Node> nodes_;
  std::unordered_map<const Operation*, size_t> positions_;
  std::vector<std::pair<Output, Slot*>> feeds_;
  OutputSet fed_;
  std::vector<ResultCopy> fed_copies_;
  size_t num_results_;
  Liveness liveness_;
};

// Returns the operations that the fetches need, in execution order.
std::vector<Operation*> ordered_operations(const std::vector<Fetch>& fetches,
                                           const OutputSet& feeds);

}  // namespace runhooks
