// ModelGraphCache: caches a model's graphs and sessions for later predict() and evaluate() calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "estimators/models/model_fn.h"
#include "io/checkpoint/cached_checkpoint.h"
#include "monitored/session_creator.h"

namespace runhooks {

class Evaluation;

struct ModelGraph {
  // Identifies calls that can reuse the graph: same mode, and in-memory rows with the same names
  // and types. "" if the graph cannot be reused.
  std::string key;
  std::shared_ptr<Graph> graph;
  ModelInput input;
  EstimatorSpec spec;
  // The op with the collectives that all processes run in a training step; NULL without peers.
  Operation* collective_op = nullptr;
  std::shared_ptr<Evaluation> evaluation;

  // Cached between calls, with its variables and execution plans.
  std::unique_ptr<Session> session;
  uint64_t restored_id = 0;  // checkpoint_id() of the session's variables
  uint64_t bytes = 0, last_used = 0;

  // The rows of this call and the graph that owns them; NULL if `graph` owns its rows.
  std::shared_ptr<const Dataset> rows;
  std::shared_ptr<Graph> rows_graph;
};

// Logs the lines that a call of the model function would log, for a graph from the cache.
void log_model_fn_call();

// Returns the cache key of a graph that contains only a global step and this input; "" if the rows
// are not in memory. `step_version` is the graph's version before the input was added.
std::string key_of_input(const Graph& graph, const ModelInput& input, Mode mode, int step_version);
// Returns the iterator that reads the rows of the input.
Output rows_of_input(const Graph& graph);
// Whether no hook sees the graph or session, so that both can be reused.
bool hooks_allow_reuse(const HookList& hooks);

// LRU cache of one model's graphs. The limits on count and memory apply to all models of the
// process together.
class ModelGraphCache : public std::enable_shared_from_this<ModelGraphCache> {
 public:
  ModelGraphCache();
  ~ModelGraphCache();
  ModelGraphCache(const ModelGraphCache&) = delete;
  ModelGraphCache& operator=(const ModelGraphCache&) = delete;

  // Returns the newest checkpoint of the directory if it is cached and unchanged on disk, else "".
  const std::string& checkpoint_in(const std::string& folder) const {
    return checkpoint_.in(folder);
  }
  bool has_checkpoint() const { return checkpoint_.is_set(); }
  // Unique per checkpoint; 0 without a cached checkpoint.
  uint64_t checkpoint_id() const { return has_checkpoint() ? checkpoint_id_ : 0; }
  void set_checkpoint(const std::string& folder, const std::string& checkpoint);

  // Removes and returns the graph with this key; NULL if it is missing or in use.
  std::unique_ptr<ModelGraph> take(const std::string& key);
  void insert(std::unique_ptr<ModelGraph> graph);
  // Predicts one batch of features, which must be sorted by name. Returns false if `checkpoint` is
  // no longer the newest, if a training runs in `folder`, or if no cached graph matches.
  bool predict(const std::string& folder,
               uint64_t checkpoint,
               const Named<Tensor>& features,
               const std::vector<std::string>& keys,
               Named<Tensor>* predictions);

  // Returns a creator of the session for a loop: the cached session or a new one. When the loop
  // ends without an error, the graph returns to the cache.
  std::unique_ptr<SessionCreator> session_creator(std::unique_ptr<ModelGraph> graph,
                                                  const std::string& checkpoint);

  static constexpr size_t kMaxGraphs = 16;
  static constexpr uint64_t kMaxCachedBytes = uint64_t{128} << 20;
  // Number of graphs in all caches; lint: allow caller (tests count them)
  static size_t num_cached();
  // Removes all graphs from all caches; lint: allow caller (tests compare with new graphs)
  static void reset();

 private:
  friend class CachedSessionCreator;
  std::unique_ptr<ModelGraph> extract(const ModelGraph* graph);
  const ModelGraph* find_prediction_graph(const Named<Tensor>& features) const;
  static void evict_lru();

  CachedCheckpoint checkpoint_;
  uint64_t checkpoint_id_ = 0;
  std::vector<std::unique_ptr<ModelGraph>> graphs_;
};

}  // namespace runhooks
