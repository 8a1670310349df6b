#include "data/dataset_function.h"

#include "base/fingerprint.h"
#include "io/graph_def.h"

namespace runhooks {

std::shared_ptr<const DatasetFunction> DatasetFunction::make(
    const std::vector<DType>& dtypes,
    const std::vector<Shape>& shapes,
    const Builder& builder,
    const std::function<void(Graph&)>& set_up) {
  std::shared_ptr<DatasetFunction> function(new DatasetFunction);
  Graph& graph = *function->graph_;
  if (set_up) set_up(graph);
  function->add_arguments(dtypes, shapes);
  function->results_ = builder(graph, function->arguments_);
  function->check_results();
  graph.finalize();
  for (const auto& op : graph.operations()) {
    function->runs_on_main_thread_ = function->runs_on_main_thread_ || op->payload;
  }
  std::string text = write_graph_def(make_graph_def(graph));
  for (const Output& result : function->results_) text += result.name() + "\n";
  function->fingerprint_ = fingerprint64(text);
  return function;
}

void DatasetFunction::add_arguments(const std::vector<DType>& dtypes,
                                    const std::vector<Shape>& shapes) {
  for (size_t i = 0; i < dtypes.size(); ++i) {
    arguments_.push_back(
        graph_->op("Placeholder").attr("dtype", dtypes[i]).attr("shape", shapes[i]).named("args"));
  }
}

void DatasetFunction::check_results() const {
  if (results_.empty()) invalid_argument("A function of a dataset must return a tensor.");
  for (const Output& result : results_) {
    if (result && &result.graph() == graph_.get()) continue;
    invalid_argument(
        "A function of a dataset must return tensors that it has made of its arguments.");
  }
  if (!graph_->collection(collection_keys::kGlobalVariables).empty() ||
      !graph_->collection(collection_keys::kLocalVariables).empty()) {
    fail(Code::kUnimplemented, "A function of a dataset cannot have variables.");
  }
}

std::vector<DType> DatasetFunction::dtypes() const {
  std::vector<DType> all;
  for (const Output& result : results_) all.push_back(result.dtype());
  return all;
}

std::vector<Shape> DatasetFunction::shapes() const {
  std::vector<Shape> all;
  for (const Output& result : results_) all.push_back(result.shape());
  return all;
}

std::vector<Fetch> DatasetFunction::fetches() const {
  return std::vector<Fetch>(results_.begin(), results_.end());
}

std::unique_ptr<DatasetFunction::Instance> DatasetFunction::instantiate() const {
  return std::make_unique<Instance>(shared_from_this());
}

DatasetFunction::Instance::Instance(std::shared_ptr<const DatasetFunction> function)
    : function_(std::move(function)),
      session_(function_->graph_),
      plan_(session_.plan(function_->fetches(), function_->arguments_)) {
  // Here, since seeds may be drawn from the embedding language, which other threads must not do.
  for (const auto& op : function_->graph_->operations()) {
    stateful_resource(session_.resources(), *op);
  }
}

Components DatasetFunction::Instance::run(const Components& arguments) {
  const std::lock_guard<std::mutex> one(mutex_);
  plan_.run(arguments);
  Components results;
  for (size_t i = 0; i < plan_.num_results(); ++i) results.push_back(plan_.result(i));
  return results;
}

NamedTensors DatasetFunction::Instance::save() const {
  const std::lock_guard<std::mutex> one(mutex_);
  NamedTensors state;
  for (const auto& op : function_->graph_->operations()) {
    const StatefulResource* resource = stateful_resource(session_.resources(), *op);
    if (resource) add_subtree(state, path_part(op->name()) + "/", resource->save_state());
  }
  return state;
}

void DatasetFunction::Instance::restore(const NamedTensors& state) {
  const std::lock_guard<std::mutex> one(mutex_);
  for (const auto& op : function_->graph_->operations()) {
    StatefulResource* resource = stateful_resource(session_.resources(), *op);
    if (resource) resource->restore_state(subtree(state, path_part(op->name()) + "/"));
  }
}

}  // namespace runhooks
