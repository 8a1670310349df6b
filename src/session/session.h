// Session: runs a graph and owns the state between steps: variables, iterators and plans.
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
  size_t max_executors = 64;  // limit of the plan cache
};

class Session {
 public:
  explicit Session(std::shared_ptr<Graph> graph, const SessionOptions& options = {})
      : graph_(std::move(graph)), options_(options), executors_(options.max_executors) {}

  Graph& graph() const { return *graph_; }
  const std::shared_ptr<Graph>& graph_ptr() const { return graph_; }

  // Returns the value of each fetch, invalid for an operation. Throws after close().
  std::vector<Tensor> run(const std::vector<Fetch>& fetches, const Feeds& feeds = {});
  std::vector<Tensor> run(const std::vector<Fetch>& fetches,
                          const Feeds& feeds,
                          const RunOptions& options,
                          RunMetadata& metadata);
  Tensor run(Output fetch);
  void run(Operation* op);

  // Returns the cached executor for these fetches and feeds; creates it on first use. Returns
  // another one for a nested run, and while results of the first one are retained.
  std::shared_ptr<Executor> executor(const std::vector<Fetch>& fetches,
                                     const std::vector<Output>& feeds);
  // lint: allow caller (tests count them)
  size_t num_executors() const { return executors_.size(); }
  // Throws after close().
  void check_open() const;

  ResourceManager& resources() { return resources_; }
  // Returns the value of a variable; throws if the variable is not initialized.
  const Tensor& value(const Variable& variable) const;
  bool is_initialized(const Variable& variable) const;
  void assign(const Variable& variable, const Tensor& value);
  // Call it after changing variables at the end of a loop, so that the loop saves a new checkpoint.
  void mark_variables_changed() { ++changes_; }
  int changes() const { return changes_; }  // number of such calls

  void close();
  bool is_closed() const { return closed_; }

  // Owned by the bindings: the R objects that belong to this session.
  std::shared_ptr<void> foreign;

 private:
  void check_fetches(const std::vector<Fetch>& fetches, const std::vector<Output>& feeds) const;
  const std::shared_ptr<NodeTable>& free_table();

  std::shared_ptr<Graph> graph_;
  SessionOptions options_;
  ResourceManager resources_;
  // The variable that value() looked up last. Its resource stays valid until close().
  struct LastLookup {
    const Operation* op = nullptr;
    VariableState* state = nullptr;
  };
  mutable LastLookup last_lookup_;
  // One per nesting depth of runs, each with its own buffers.
  std::vector<std::shared_ptr<NodeTable>> tables_;
  ExecutorCache executors_;
  int changes_ = 0;
  int extensions_ = 0;  // graph_->extensions() when the executors were created
  bool closed_ = false;
};

}  // namespace runhooks
