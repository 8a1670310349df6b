// What lives here: ModelGraphCache, the graphs of a model with sessions that are ready for the next call.
// Who may use it: estimators, the bindings.
// What it must not know: any particular model, R.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "estimators/model_fn.h"
#include "io/checkpoint/cached_checkpoint.h"
#include "monitored/session_creator.h"

namespace runhooks {

class Evaluation;

// A model in a graph, for predictions or for an evaluation.
struct ModelGraph {
  // What it can be used for again: predictions or evaluations of rows in memory of the same names
  // and types. "": it serves one call.
  std::string key;
  std::shared_ptr<Graph> graph;
  ModelInput input;
  EstimatorSpec spec;
  // What all processes do together in a step of training; NULL where one trains.
  Operation* together = nullptr;
  std::shared_ptr<Evaluation> evaluation;

  // Between two calls: variables and plans.
  std::unique_ptr<Session> session;
  uint64_t restored = 0;  // the number of the checkpoint that the variables are of
  uint64_t bytes = 0, last_used = 0;

  // The rows of this call, and the graph that they were read in; none where they are its own.
  std::shared_ptr<const Dataset> rows;
  std::shared_ptr<Graph> rows_graph;
};

// The key of a graph that has nothing but its step and this input, "" where it is none of rows in
// memory. `step_version`: the graph's, before it had the input.
std::string key_of_input(const Graph& graph,
                         const ModelInput& input,
                         Mode mode,
                         int step_version);
// Where the rows of such a graph come from.
Output rows_of_input(const Graph& graph);
// Whether all of them leave graph and session as they are.
bool hooks_allow_reuse(const HookList& hooks);

// What one model keeps from call to call. How many graphs all models of the process keep, and how
// much memory they take, is limited: the one that was used the longest time ago is let go.
class ModelGraphCache : public std::enable_shared_from_this<ModelGraphCache> {
 public:
  ModelGraphCache();
  ~ModelGraphCache();
  ModelGraphCache(const ModelGraphCache&) = delete;
  ModelGraphCache& operator=(const ModelGraphCache&) = delete;

  // The folder's newest checkpoint, where its files and what the folder says of it are as they were
  // when it was noted; "" where nobody knows.
  const std::string& checkpoint_in(const std::string& folder) const {
    return checkpoint_.in(folder);
  }
  bool knows_checkpoint() const { return checkpoint_.is_noted(); }
  // No two checkpoints have the same; 0: none is known.
  uint64_t checkpoint_number() const { return knows_checkpoint() ? number_ : 0; }
  // It is about to be read.
  void note_checkpoint(const std::string& folder, const std::string& checkpoint);

  // NULL where there is none, or it is in use.
  std::unique_ptr<ModelGraph> take(const std::string& key);
  void keep(std::unique_ptr<ModelGraph> graph);
  // Predictions for the rows of these features, in the order of their names, as one batch. FALSE
  // where the folder's newest checkpoint is not this one any more, or no graph is at hand that has
  // its weights and takes these features; or where somebody watches loops, or reads of them in the
  // log.
  bool predict(const std::string& folder,
               uint64_t checkpoint,
               const Named<Tensor>& features,
               const std::vector<std::string>& keys,
               Named<Tensor>* predictions);

  // Makes the session that a loop runs: the graph's own, or a new one. When the loop has ended well
  // the graph is kept.
  std::unique_ptr<SessionCreator> session_creator(std::unique_ptr<ModelGraph> graph,
                                                  const std::string& checkpoint);

  static constexpr size_t kMostGraphs = 16;
  static constexpr uint64_t kMostBytes = uint64_t{128} << 20;
  // How many all models keep; lint: allow caller (tests count them)
  static size_t num_kept();

 private:
  friend class CachedSessionCreator;
  std::unique_ptr<ModelGraph> extract(const ModelGraph* graph);
  const ModelGraph* predictions_of(const Named<Tensor>& features) const;
  static void evict_lru();

  CachedCheckpoint checkpoint_;
  uint64_t number_ = 0;  // of the checkpoint
  std::vector<std::unique_ptr<ModelGraph>> graphs_;
};

}  // namespace runhooks
