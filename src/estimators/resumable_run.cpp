#include "estimators/resumable_run.h"

#include <set>

#include "base/log.h"
#include "data/dataset.h"
#include "graph/func_graph.h"

namespace runhooks {

namespace {

// One of a checkpoint that knows nothing of it begins anew, which is said.
class InputPosition : public Saveable {
 public:
  InputPosition(const Output& handle, OnOtherData on_other_data)
      : position_(make_saveable_from_iterator(handle, on_other_data)) {}
  const std::string& name() const override { return position_->name(); }
  std::vector<SaveSpec> save(ResourceManager& resources) override {
    return position_->save(resources);
  }
  Assign read(const TensorSource& source, const ResourceManager& resources) override {
    if (source.names_with(name()).empty()) {
      log_always(LogLevel::kInfo, str_cat("Checkpoint ", source.path(),
                                          " does not say where the input stood: it begins at the "
                                          "first element."));
      return {};
    }
    return position_->read(source, resources);
  }

 private:
  SaveablePtr position_;
};

// Where dropout and its like stand in their streams of random numbers.
class RandomPositions : public StateSaveable {
 public:
  explicit RandomPositions(const Graph& graph) : StateSaveable("runhooks/random/"), graph_(graph) {}

 protected:
  NamedTensors save_state(ResourceManager& resources) override {
    NamedTensors state;
    for (const Operation* op : all_operations(graph_)) {
      const StatefulResource* resource = stateful_resource(resources, *op);
      if (resource) add_subtree(state, path_part(op->name()) + "/", resource->save_state());
    }
    return state;
  }
  // An operation that is new in the model begins its stream.
  Assign read_state(const NamedTensors& state,
                    const std::string&,
                    const ResourceManager&) override {
    std::vector<Assign> all;
    for (const Operation* op : all_operations(graph_)) {
      const NamedTensors own = subtree(state, path_part(op->name()) + "/");
      if (own.empty() || !op->def().resource_factory) continue;
      all.push_back(read_resource_state(*op, own));
    }
    return [all](ResourceManager& resources) {
      for (const Assign& assign : all) assign(resources);
    };
  }

 private:
  const Graph& graph_;
};

// One that a session begins with takes its position up then; what else initializes it would begin
// anew after it was restored.
void check_begins(const Operation& iterator) {
  if (iterator.payload) return;
  const Graph& graph = iterator.graph();
  for (const CollectionItem& item : graph.collection(collection_keys::kTableInitializers)) {
    const auto* op = std::get_if<Operation*>(&item);
    if (op && !(*op)->inputs().empty() && (*op)->input(0).op == &iterator) return;
  }
  throw Error(
      Code::kInvalidArgument,
      str_cat("Where iterator '", iterator.name(),
              "' stands cannot be kept: it waits for an initializer."),
      {"With run_config(checkpoint_input_pipeline = TRUE) let the input function return the "
       "dataset, or use make_iterator_one_shot()."});
}

}  // namespace

void keep_run_resumable(Graph& graph, OnOtherData on_other_data) {
  const std::vector<CollectionItem> iterators = graph.collection("iterators");
  if (iterators.empty()) {
    throw Error(Code::kInvalidArgument, "The input has no position to be saved.",
                {"run_config(checkpoint_input_pipeline = TRUE) saves where the iterators of "
                 "datasets stand, and the input function makes none."});
  }
  std::set<std::string> known;
  for (const CollectionItem& item : graph.collection(collection_keys::kSaveableObjects)) {
    if (const auto* object = std::get_if<SaveablePtr>(&item)) known.insert((*object)->name());
  }
  const auto add = [&](SaveablePtr saveable) {
    if (!known.insert(saveable->name()).second) return;
    graph.add_to_collection(collection_keys::kSaveableObjects, saveable);
  };
  for (const CollectionItem& item : iterators) {
    if (const auto* handle = std::get_if<Output>(&item)) {
      check_begins(*handle->op);
      add(std::make_shared<InputPosition>(*handle, on_other_data));
    }
  }
  add(std::make_shared<RandomPositions>(graph));
}

}  // namespace runhooks
