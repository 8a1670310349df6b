#include "estimators/run/resumable_run.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/log.h"
#include "data/dataset.h"
#include "estimators/replicas/replica_saveable.h"
#include "graph/ancestors.h"
#include "graph/func_graph.h"

namespace runhooks {

namespace {

// Saves the position of an iterator. If a checkpoint has no position, the iterator starts at the
// first element and a message is logged.
class InputPosition : public Saveable {
 public:
  InputPosition(const Output& handle, ResumeMismatch on_other_data)
      : position_(make_saveable_from_iterator(handle, on_other_data)) {}
  const std::string& name() const override { return position_->name(); }
  std::vector<SaveSpec> save(ResourceManager& resources) override {
    return position_->save(resources);
  }
  Assign read(const TensorSource& source, const ResourceManager& resources) override {
    if (source.names_with(name()).empty()) {
      log_always(LogLevel::kInfo, str_cat("Checkpoint ", source.path(),
                                          " has no input position; the input starts at the first "
                                          "element."));
      return {};
    }
    return position_->read(source, resources);
  }

 private:
  SaveablePtr position_;
};

using Operations = std::vector<const Operation*>;

OperationsById required_ops(Operations targets) {
  targets.erase(std::remove(targets.begin(), targets.end(), nullptr), targets.end());
  return ancestors_of(std::move(targets), Through::kInputsAndControl);
}

Operations initializers_of(const Graph& graph) {
  Operations all;
  for (const SaveablePtr& saveable : saveables_in(graph)) all.push_back(saveable->initializer());
  for (const auto& variable : variables_in(graph, collection_keys::kLocalVariables)) {
    all.push_back(variable_saveable(variable)->initializer());
  }
  return all;
}

// Finds the stateful operations that a training step uses, in the graph and its functions, and
// whose state no other saveable saves. Omits operations that only initializers use.
Operations find_random_ops(const Graph& graph, const Operations& step) {
  std::set<const Operation*> saved;
  for (const SaveablePtr& saveable : saveables_in(graph)) saved.insert(saveable->op());
  const OperationsById for_initializers = required_ops(initializers_of(graph)),
                           for_steps = required_ops(step);
  Operations random;
  for (const auto& op : graph.operations()) {
    if (for_initializers.count(op->id()) > 0 && for_steps.count(op->id()) == 0) continue;
    Operations candidates = {op.get()};
    for (const FunctionPtr& function : functions_of(*op)) {
      for (const Operation* inner : all_operations(*function)) candidates.push_back(inner);
    }
    for (const Operation* candidate : candidates) {
      if (candidate->def().resource_factory && saved.count(candidate) == 0)
        random.push_back(candidate);
    }
  }
  return random;
}

class RandomPositions : public StateSaveable {
 public:
  RandomPositions(const Graph& graph, Operations step)
      : StateSaveable("runhooks/random/"), graph_(graph), step_(std::move(step)) {}

 protected:
  NamedTensors save_state(ResourceManager& resources) override {
    NamedTensors state;
    for (const Operation* op : random_ops()) {
      const StatefulResource* resource = stateful_resource(resources, *op);
      add_subtree(state, escape_path_component(op->name()) + "/", resource->save_state());
    }
    return state;
  }
  // Restores the random generators of operations. An operation that the checkpoint does not contain
  // starts at the beginning of its random stream.
  Assign read_state(const NamedTensors& state,
                    const std::string&,
                    const ResourceManager&) override {
    std::vector<Assign> assigns;
    for (const Operation* op : random_ops()) {
      const NamedTensors op_state = subtree(state, escape_path_component(op->name()) + "/");
      if (!op_state.empty()) assigns.push_back(read_resource_state(*op, op_state));
    }
    return [assigns](ResourceManager& resources) {
      for (const Assign& assign : assigns) assign(resources);
    };
  }

 private:
  // Finds the operations at the first call, because hooks may add operations until the graph is
  // finalized.
  const Operations& random_ops() {
    if (!random_ops_) random_ops_ = find_random_ops(graph_, step_);
    return *random_ops_;
  }
  const Graph& graph_;
  const Operations step_;
  std::optional<Operations> random_ops_;
};

// Throws unless the iterator is one-shot or initialized together with tables. Any other initializer
// would run after the restore and reset the position.
void check_restorable(const Operation& iterator) {
  if (iterator.payload) return;
  const Graph& graph = iterator.graph();
  for (const CollectionItem& item : graph.collection(collection_keys::kTableInitializers)) {
    const auto* op = std::get_if<Operation*>(&item);
    if (op && !(*op)->inputs().empty() && (*op)->input(0).op == &iterator) return;
  }
  throw Error(
      Code::kInvalidArgument,
      str_cat("Cannot save the position of iterator '", iterator.name(),
              "', because it is initialized by an operation."),
      {"With run_config(checkpoint_input_pipeline = TRUE), the input function must return the "
       "dataset itself, or use make_iterator_one_shot()."});
}

}  // namespace

void save_random_positions(Graph& graph, const std::vector<const Operation*>& step, int replicas) {
  const SaveablePtr own = std::make_shared<RandomPositions>(graph, step);
  graph.add_to_collection(collection_keys::kSaveableObjects,
                          random_numbers_of_replica(own, replicas));
}

void save_input_positions(Graph& graph, ResumeMismatch on_other_data, int replicas) {
  const std::vector<CollectionItem> iterators = graph.collection("iterators");
  if (iterators.empty()) {
    throw Error(Code::kInvalidArgument, "The input has no position that can be saved.",
                {"run_config(checkpoint_input_pipeline = TRUE) saves the positions of dataset "
                 "iterators, but the input function creates no dataset."});
  }
  std::set<std::string> names;
  for (const CollectionItem& item : graph.collection(collection_keys::kSaveableObjects)) {
    if (const auto* object = std::get_if<SaveablePtr>(&item)) names.insert((*object)->name());
  }
  const auto add = [&](SaveablePtr saveable) {
    if (!names.insert(saveable->name()).second) return;
    graph.add_to_collection(collection_keys::kSaveableObjects, saveable);
  };
  for (const CollectionItem& item : iterators) {
    if (const auto* handle = std::get_if<Output>(&item)) {
      check_restorable(*handle->op);
      add(input_of_replica(std::make_shared<InputPosition>(*handle, on_other_data), replicas));
    }
  }
}

}  // namespace runhooks
