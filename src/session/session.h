// What lives here: Session, which runs a graph and owns what outlives a step: variables, iterators, plans.
// Who may use it: every layer above session, the bindings.
// What it must not know: hooks, checkpoints, R.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/variable.h"
#include "session/executor_cache.h"

namespace runhooks {

using Feeds = std::vector<std::pair<Output, Tensor>>;

struct SessionOptions {
  BufferOptions buffers;
  size_t max_executors = 64;  // compiled plans that are kept
};

class Session {
 public:
  explicit Session(std::shared_ptr<Graph> graph, const SessionOptions& options = {})
      : graph_(std::move(graph)), options_(options), executors_(options.max_executors) {}

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

  // What runs these fetches and feeds, made on first use. A run inside of a run, and one that must
  // not change results that are held, get another one than that which is in use.
  std::shared_ptr<Executor> executor(const std::vector<Fetch>& fetches,
                                     const std::vector<Output>& feeds);
  // lint: allow caller (tests count them)
  size_t num_executors() const { return executors_.size(); }
  // Throws after close().
  void check_open() const;

  ResourceManager& resources() { return resources_; }
  // The value of a variable; throws where it is not initialized.
  const Tensor& value(const Variable& variable) const;
  bool is_initialized(const Variable& variable) const;
  void assign(const Variable& variable, const Tensor& value);
  // Whoever changes variables when a loop ends notes it: a checkpoint of that step is out of date.
  void note_change() { ++changes_; }
  int changes() const { return changes_; }

  void close();
  bool is_closed() const { return closed_; }

  // Where the embedding language keeps what belongs to this session.
  std::shared_ptr<void> foreign;

 private:
  void check_fetches(const std::vector<Fetch>& fetches, const std::vector<Output>& feeds) const;
  const std::shared_ptr<NodeTable>& free_table();

  std::shared_ptr<Graph> graph_;
  SessionOptions options_;
  ResourceManager resources_;
  // The variable that value() was asked for last; resources stay where they are until close().
  struct Asked {
    const Operation* op = nullptr;
    VariableState* state = nullptr;
  };
  mutable Asked asked_;
  // One for each depth of runs inside of runs; they have buffers of their own.
  std::vector<std::shared_ptr<NodeTable>> tables_;
  ExecutorCache executors_;
  int changes_ = 0, extensions_ = 0;
  bool closed_ = false;
};

}  // namespace runhooks
