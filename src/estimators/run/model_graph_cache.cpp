#include "estimators/run/model_graph_cache.h"

#include <algorithm>

#include "base/log.h"
#include "data/iterator_rebind.h"
#include "estimators/run/active_training.h"
#include "estimators/run/run_folder.h"
#include "graph/endpoints.h"
#include "io/files/atomic_file.h"
#include "monitored/monitored_session.h"
#include "session/reusable_session_hook.h"

namespace runhooks {

namespace {

std::vector<ModelGraphCache*>& all_caches() {
  static auto* caches = new std::vector<ModelGraphCache*>;
  return *caches;
}

uint64_t next_id() {
  static uint64_t last = 0;
  return ++last;
}

Output rows_in_memory(const Graph& graph) {
  const EndpointTensors& rows = endpoint(graph, "rows_in_memory");
  return rows.size() == 1 ? rows[0].second : Output();
}

void log_restoring(const std::string& checkpoint) {
  log(LogLevel::kInfo, str_cat("Restoring parameters from ", checkpoint));
}

// Logs the lines that creating and restoring a session would log.
void log_restored_session(const std::string& checkpoint) {
  log(LogLevel::kInfo, "Graph was finalized.");
  log_restoring(checkpoint);
  log(LogLevel::kInfo, "Running local_init_op.");
  log(LogLevel::kInfo, "Done running local_init_op.");
}

std::string component_text(const std::string& name, const Output& component) {
  return str_cat(name.size(), ":", name, "=", component.index, " ", dtype_name(component.dtype()),
                 component.shape().to_string(), ";");
}

}  // namespace

void log_model_fn_call() {
  log(LogLevel::kInfo, "Calling model_fn.");
  log(LogLevel::kInfo, "Done calling model_fn.");
}

std::string key_of_input(const Graph& graph, const ModelInput& input, Mode mode, int step_version) {
  const Output rows = rows_in_memory(graph);
  // No key if the input function added more than two operations: the iterator and its next element.
  if (!rows || input.r_object || graph.version() != step_version + 2) return "";
  std::string key = str_cat(mode_name(mode), " ");
  if (graph.has_seed()) key += str_cat("seed ", graph.seed(), " ");
  for (const auto& feature : input.features) {
    if (feature.second.is_sparse() || feature.second.values.op != rows.op) return "";
    key += component_text(feature.first, feature.second.values);
  }
  Named<Output> labels(input.named_labels.begin(), input.named_labels.end());
  if (input.labels) labels.emplace_back("", input.labels);
  for (const auto& label : labels) {
    if (label.second.op != rows.op) return "";
    key += "label " + component_text(label.first, label.second);
  }
  return key;
}

Output rows_of_input(const Graph& graph) { return rows_in_memory(graph).op->input(0); }

bool hooks_allow_reuse(const HookList& hooks) {
  return std::all_of(hooks.begin(), hooks.end(), [](const HookPtr& hook) {
    return dynamic_cast<const ReusableSessionHook*>(hook.get()) != nullptr;
  });
}

class CachedSessionCreator : public SessionCreator {
 public:
  CachedSessionCreator(std::unique_ptr<ModelGraph> graph,
                       const std::shared_ptr<ModelGraphCache>& cache,
                       std::string checkpoint)
      : graph_(std::move(graph)),
        cache_(cache),
        checkpoint_(std::move(checkpoint)),
        checkpoint_id_(cache->checkpoint_id_),
        iterator_(rows_of_input(*graph_->graph)) {
    if (!graph_->rows) graph_->rows = dataset_of(iterator_);
  }
  std::unique_ptr<Session> create_session() override {
    std::unique_ptr<Session> session;
    if (graph_->session) {
      session = std::move(graph_->session);
      prepare_session(*session);
    } else {
      session = ChiefSessionCreator(graph_->graph, graph_->spec.scaffold, "", checkpoint_)
                    .create_session();
    }
    if (!dataset_of(iterator_)) rebind_iterator(iterator_, graph_->rows, session->resources());
    return session;
  }
  std::shared_ptr<Saver> ready_saver() override {
    graph_->spec.scaffold->finalize(*graph_->graph);
    return graph_->spec.scaffold->saver;
  }
  void recycle_session(std::unique_ptr<Session> session) override {
    // Estimate: the memory of a session is proportional to its rows.
    graph_->bytes = 4 * release_dataset(iterator_, session->resources());
    graph_->rows = nullptr;
    graph_->rows_graph = nullptr;
    graph_->session = std::move(session);
    graph_->restored_id = checkpoint_id_;
    if (const auto cache = cache_.lock()) cache->insert(std::move(graph_));
  }

 private:
  // Prepares a cached session as ChiefSessionCreator prepares a new one, but restores variables
  // only if the checkpoint has changed.
  void prepare_session(Session& session) const {
    const Scaffold& scaffold = *graph_->spec.scaffold;
    graph_->graph->finalize();
    log(LogLevel::kInfo, "Graph was finalized.");
    if (graph_->restored_id != checkpoint_id_) {
      scaffold.saver->restore(session, checkpoint_);
    } else {
      log_restoring(checkpoint_);
    }
    log(LogLevel::kInfo, "Running local_init_op.");
    session.run({scaffold.local_init_op}, scaffold.local_init_feeds);
    log(LogLevel::kInfo, "Done running local_init_op.");
  }

  std::unique_ptr<ModelGraph> graph_;
  std::weak_ptr<ModelGraphCache> cache_;
  std::string checkpoint_;
  uint64_t checkpoint_id_;
  Output iterator_;
};

ModelGraphCache::ModelGraphCache() { all_caches().push_back(this); }

ModelGraphCache::~ModelGraphCache() {
  auto& caches = all_caches();
  caches.erase(std::remove(caches.begin(), caches.end(), this), caches.end());
}

void ModelGraphCache::set_checkpoint(const std::string& folder, const std::string& checkpoint) {
  if (checkpoint_.note(folder, checkpoint, {kRecordName})) checkpoint_id_ = next_id();
}

std::unique_ptr<ModelGraph> ModelGraphCache::extract(const ModelGraph* graph) {
  const auto found = std::find_if(graphs_.begin(), graphs_.end(),
                                  [graph](const auto& one) { return one.get() == graph; });
  std::unique_ptr<ModelGraph> extracted = std::move(*found);
  graphs_.erase(found);
  return extracted;
}

std::unique_ptr<ModelGraph> ModelGraphCache::take(const std::string& key) {
  const auto found = std::find_if(graphs_.begin(), graphs_.end(),
                                  [&key](const auto& graph) { return graph->key == key; });
  return found == graphs_.end() ? nullptr : extract(found->get());
}

void ModelGraphCache::insert(std::unique_ptr<ModelGraph> graph) {
  graph->bytes += checkpoint_.num_bytes();
  if (graph->bytes > kMaxCachedBytes / 2) return;
  graph->last_used = next_id();
  take(graph->key);  // a nested call may have cached the same key
  graphs_.push_back(std::move(graph));
  evict_lru();
}

const ModelGraph* ModelGraphCache::find_prediction_graph(const Named<Tensor>& features) const {
  const auto is_fed = [](const auto& fed, const auto& feature) {
    const Output& tensor = feature.second.values;
    return fed.first == feature.first && fed.second.dtype() == tensor.dtype() &&
           tensor.shape().is_compatible_with(fed.second.shape());
  };
  for (const auto& graph : graphs_) {
    const Features& graph_features = graph->input.features;
    const bool fits = graph->spec.mode == Mode::kPredict && graph->restored_id == checkpoint_id_ &&
                      std::equal(features.begin(), features.end(), graph_features.begin(),
                                 graph_features.end(), is_fed);
    if (fits) return graph.get();
  }
  return nullptr;
}

bool ModelGraphCache::predict(const std::string& folder,
                              uint64_t checkpoint,
                              const Named<Tensor>& features,
                              const std::vector<std::string>& keys,
                              Named<Tensor>* predictions) {
  // While a training runs, its weights are newer than the checkpoint.
  if (checkpoint != checkpoint_id_ || ActiveTraining::is_in(folder)) return false;
  const std::string path = checkpoint_in(folder);
  if (path.empty()) return false;
  const ModelGraph* found = find_prediction_graph(features);
  if (!found) return false;
  std::vector<Fetch> fetches;
  for (const auto& prediction : found->spec.predictions) {
    if (std::find(keys.begin(), keys.end(), prediction.first) == keys.end()) continue;
    predictions->emplace_back(prediction.first, Tensor());
    fetches.emplace_back(prediction.second);
  }
  if (fetches.size() != keys.size()) return false;
  std::vector<Output> fed;
  std::vector<Tensor> values;
  for (const auto& feature : found->input.features) fed.push_back(feature.second.values);
  for (const auto& feature : features) values.push_back(feature.second);
  if (is_logged(LogLevel::kInfo)) {
    log_model_fn_call();
    log_restored_session(path);
  }
  // Takes the graph out of the cache during the run: it returns only if the run succeeds.
  std::unique_ptr<ModelGraph> graph = extract(found);
  const std::shared_ptr<Executor> executor = graph->session->executor(fetches, fed);
  executor->run(values);
  for (size_t i = 0; i < fetches.size(); ++i) (*predictions)[i].second = executor->result(i);
  graph->last_used = next_id();
  graphs_.push_back(std::move(graph));
  return true;
}

std::unique_ptr<SessionCreator> ModelGraphCache::session_creator(std::unique_ptr<ModelGraph> graph,
                                                                 const std::string& checkpoint) {
  return std::make_unique<CachedSessionCreator>(std::move(graph), shared_from_this(), checkpoint);
}

size_t ModelGraphCache::num_cached() {
  size_t n = 0;
  for (const ModelGraphCache* cache : all_caches()) n += cache->graphs_.size();
  return n;
}

void ModelGraphCache::reset() {
  for (ModelGraphCache* cache : all_caches()) cache->graphs_.clear();
}

void ModelGraphCache::evict_lru() {
  for (;;) {
    uint64_t bytes = 0;
    ModelGraphCache* owner = nullptr;
    const ModelGraph* oldest = nullptr;
    for (ModelGraphCache* cache : all_caches()) {
      for (const auto& graph : cache->graphs_) {
        bytes += graph->bytes;
        if (oldest && oldest->last_used < graph->last_used) continue;
        oldest = graph.get();
        owner = cache;
      }
    }
    if (num_cached() <= kMaxGraphs && bytes <= kMaxCachedBytes) return;
    owner->extract(oldest);
  }
}

}  // namespace runhooks
