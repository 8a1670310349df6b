// What lives here: Session, which runs a graph and owns what outlives a step: variables, iterators, plans.
// Who may use it: training, hooks, monitored, estimators, the bindings.
// What it must not know: hooks, checkpoints, R.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/variable.h"
#include "session/plan.h"

namespace runhooks {

using Feeds = std::vector<std::pair<Output, Tensor>>;

class Session {
 public:
  explicit Session(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) {}

  Graph& graph() const { return *graph_; }
  const std::shared_ptr<Graph>& graph_ptr() const { return graph_; }

  // The value of each fetch, invalid for an operation. Throws after close().
  std::vector<Tensor> run(const std::vector<Fetch>& fetches, const Feeds& feeds = {});
  std::vector<Tensor> run(const std::vector<Fetch>& fetches,
                          const Feeds& feeds,
                          const RunOptions& options,
                          RunMetadata& metadata);
  Tensor run(Output fetch);
  void run(Operation* op);

  // The compiled form of these fetches and feeds, made on first use. It lives as long as the
  // session.
  Plan& plan(const std::vector<Fetch>& fetches, const std::vector<Output>& feeds);

  ResourceManager& resources() { return resources_; }
  // The value of a variable; throws where it is not initialized.
  const Tensor& value(const Variable& variable) const;
  bool is_initialized(const Variable& variable) const;
  void assign(const Variable& variable, const Tensor& value);

  void close();
  bool is_closed() const { return closed_; }

  // Where the embedding language keeps what belongs to this session.
  std::shared_ptr<void> foreign;

 private:
  struct KeyHash {
    size_t operator()(const std::vector<int64_t>& key) const;
  };
  void check_open() const;
  void check_fetches(const std::vector<Fetch>& fetches, const std::vector<Output>& feeds) const;

  std::shared_ptr<Graph> graph_;
  ResourceManager resources_;
  std::unordered_map<std::vector<int64_t>, std::unique_ptr<Plan>, KeyHash> plans_;
  bool closed_ = false;
};

}  // namespace runhooks
