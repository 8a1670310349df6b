#include "data/dataset_function.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/fingerprint.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "graph/func_graph.h"
#include "io/graphs/graph_def.h"

namespace runhooks {

std::shared_ptr<const DatasetFunction> DatasetFunction::make(const std::vector<DType>& dtypes,
                                                             const std::vector<Shape>& shapes,
                                                             const Builder& builder,
                                                             Graph* outer) {
  std::shared_ptr<DatasetFunction> function(new DatasetFunction(outer));
  Graph& graph = *function->graph_;
  if (outer && outer->has_seed()) graph.set_seed(outer->seed());
  function->add_arguments(dtypes, shapes);
  for (const Output& result : builder(graph, function->arguments_)) {
    if (!result) invalid_argument("A function of a dataset must return tensors.");
    // Results that are datasets are handled elsewhere (DatasetValuedFunction). No other output of
    // the graph can be a variant.
    if (result.dtype() == DType::kVariant) {
      fail(Code::kUnimplemented, "A function of a dataset cannot return '", result.name(),
           "', which is not a tensor of values.");
    }
    function->results_.push_back(graph.capture(result));
  }
  function->check_variables();
  graph.finalize();
  for (const auto& op : graph.operations()) {
    const auto is_host_function = [](const Operation& x) { return x.def().is_host_function; };
    if (any_nested_operation(*op, is_host_function)) function->runs_on_main_thread_ = true;
    if (op->def().is_stateful && !function->is_argument(*op)) function->is_stateful_ = true;
  }
  std::string text = write_graph_def(make_graph_def(graph));
  for (const Output& result : function->results_) text += result.name() + "\n";
  function->fingerprint_ = fingerprint64(text);
  return function;
}

void DatasetFunction::add_arguments(const std::vector<DType>& dtypes,
                                    const std::vector<Shape>& shapes) {
  for (size_t i = 0; i < dtypes.size(); ++i) {
    is_graph_input_.push_back(dtypes[i] != DType::kVariant);
    if (!is_graph_input_.back()) continue;
    arguments_.push_back(
        graph_->op("Placeholder").attr("dtype", dtypes[i]).attr("shape", shapes[i]).named("args"));
  }
}

bool DatasetFunction::is_argument(const Operation& op) const {
  const std::vector<Output> inputs = feeds();
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Output& argument) { return argument.op == &op; });
}

void DatasetFunction::check_variables() const {
  if (!graph_->collection(collection_keys::kGlobalVariables).empty() ||
      !graph_->collection(collection_keys::kLocalVariables).empty()) {
    fail(Code::kUnimplemented, "A function of a dataset cannot create variables.");
  }
}

std::vector<DType> DatasetFunction::dtypes() const {
  std::vector<DType> result_dtypes;
  for (const Output& result : results_) result_dtypes.push_back(result.dtype());
  return result_dtypes;
}

std::vector<Shape> DatasetFunction::shapes() const {
  std::vector<Shape> result_shapes;
  for (const Output& result : results_) result_shapes.push_back(result.shape());
  return result_shapes;
}

std::vector<Output> DatasetFunction::feeds() const {
  std::vector<Output> result = arguments_;
  result.insert(result.end(), graph_->inside().begin(), graph_->inside().end());
  return result;
}

std::vector<Output> DatasetFunction::free_tensors() const {
  return captured_.empty() ? graph_->outside() : std::vector<Output>();
}

std::shared_ptr<const DatasetFunction> DatasetFunction::bind(const TensorBindings& bindings) const {
  Components values;
  for (const Output& free_tensor : free_tensors()) {
    const Tensor* value = bindings.find(free_tensor);
    if (!value) return shared_from_this();  // `bindings` are those of another graph
    values.push_back(*value);
  }
  if (values.empty()) return shared_from_this();
  std::shared_ptr<DatasetFunction> other(new DatasetFunction(*this));
  other->captured_ = std::move(values);
  return other;
}

std::unique_ptr<DatasetFunction::Instance> DatasetFunction::instantiate(
    IteratorContext& context) const {
  return std::make_unique<Instance>(shared_from_this(), context);
}

DatasetFunction::Instance::Instance(std::shared_ptr<const DatasetFunction> function,
                                    IteratorContext& context)
    : function_(std::move(function)), session_(function_->graph_) {
  if (!function_->free_tensors().empty()) {
    fail(Code::kInternal, "A function of a dataset was started without '",
         function_->free_tensors()[0].name(), "'.");
  }
  const std::vector<Output>& results = function_->results_;
  if (!results.empty()) {
    executor_ = session_.executor({results.begin(), results.end()}, function_->feeds());
  }
  is_unchanged_.assign(function_->arguments_.size(), false);
  is_unchanged_.resize(function_->feeds().size(), true);
  std::optional<uint64_t> pending_seed;
  const SeedSourceScope seeds([&context, &pending_seed] {
    if (pending_seed) return *std::exchange(pending_seed, std::nullopt);
    const Seeds pair = context.seeds(std::nullopt);
    pending_seed = pair.seed2;
    return pair.seed;
  });
  for (const Operation* op : all_operations(*function_->graph_)) {
    stateful_resource(session_.resources(), *op);
  }
}

Components DatasetFunction::Instance::run(const Components& arguments) {
  if (!executor_) return {};
  InterruptPoll()();
  const std::lock_guard<std::mutex> lock(mutex_);
  fed_values_.clear();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (function_->is_graph_input_[i]) fed_values_.push_back(&arguments[i]);
  }
  for (const Tensor& value : function_->captured_) fed_values_.push_back(&value);
  executor_->run(fed_values_, is_unchanged_);
  Components results;
  for (size_t i = 0; i < executor_->num_results(); ++i) {
    results.push_back(executor_->result(i));
  }
  return results;
}

NamedTensors DatasetFunction::Instance::save() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  NamedTensors state;
  for (const Operation* op : all_operations(*function_->graph_)) {
    const StatefulResource* resource = stateful_resource(session_.resources(), *op);
    if (resource) add_subtree(state, escape_path_component(op->name()) + "/", resource->save_state());
  }
  return state;
}

void DatasetFunction::Instance::restore(const NamedTensors& state) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Operation* op : all_operations(*function_->graph_)) {
    StatefulResource* resource = stateful_resource(session_.resources(), *op);
    if (resource) resource->restore_state(subtree(state, escape_path_component(op->name()) + "/"));
  }
}

// --- functions whose value is a dataset

std::shared_ptr<const Dataset> DatasetValuedFunction::make(const Components& values,
                                                           const Components& arguments) const {
  return pattern_->bind({free_tensors_, values, &arguments, &function_->graph()});
}

std::shared_ptr<const DatasetValuedFunction> DatasetValuedFunction::bind(
    const TensorBindings& bindings) const {
  return std::shared_ptr<const DatasetValuedFunction>(new DatasetValuedFunction(
      function_->bind(bindings), pattern_->bind(bindings), free_tensors_));
}

namespace {

class ArgumentDataset : public Dataset {
 public:
  ArgumentDataset(const Graph& graph, size_t k, std::shared_ptr<const Dataset> like)
      : graph_(&graph), k_(k), like_(std::move(like)) {}
  std::vector<DType> dtypes() const override { return like_->dtypes(); }
  std::vector<Shape> shapes() const override { return like_->shapes(); }
  std::shared_ptr<const Dataset> inner(size_t k) const override { return like_->inner(k); }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext&) const override {
    fail(Code::kFailedPrecondition,
         "The dataset argument of a function has elements only while the function is called.");
  }
  std::string description() const override {
    return str_cat("argument ", static_cast<unsigned long>(k_));
  }
  bool is_bound() const override { return false; }

 private:
  std::shared_ptr<const Dataset> replaced(const TensorBindings& bindings) const override {
    if (bindings.graph != graph_) return nullptr;  // an argument of another function
    return std::static_pointer_cast<const Dataset>((*bindings.arguments)[k_].object());
  }
  const Graph* graph_;
  size_t k_;
  std::shared_ptr<const Dataset> like_;
};

}  // namespace

std::shared_ptr<Dataset> argument_dataset(const Graph& graph,
                                          size_t k,
                                          std::shared_ptr<const Dataset> like) {
  return std::make_shared<ArgumentDataset>(graph, k, std::move(like));
}

}  // namespace runhooks
