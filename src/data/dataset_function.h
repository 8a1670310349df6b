// DatasetFunction: a function that a dataset applies to each element. It has its own graph.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/element_graph.h"
#include "session/session.h"

namespace runhooks {

class DatasetFunction : public CoreObject, public std::enable_shared_from_this<DatasetFunction> {
 public:
  const char* kind() const override { return "a graph function"; }

  // Adds the operations of the function to a graph, for example by calling an R closure. It is
  // called only by make(); elements are computed by the graph.
  using Builder = std::function<std::vector<Output>(Graph&, const std::vector<Output>& arguments)>;

  // Creates a function for elements of these types and shapes. The graph has no argument for
  // components that are datasets. The function inherits the seed of `outer` and may use its
  // tensors.
  static std::shared_ptr<const DatasetFunction> make(const std::vector<DType>& dtypes,
                                                     const std::vector<Shape>& shapes,
                                                     const Builder& builder,
                                                     Graph* outer = nullptr);

  std::vector<DType> dtypes() const;
  std::vector<Shape> shapes() const;
  // A hash of the graph. Functions with equal hashes are equal, except for state outside the graph.
  uint64_t fingerprint() const { return fingerprint_; }
  // True if the graph calls an R function.
  bool runs_on_main_thread() const { return runs_on_main_thread_; }
  // True if the results of a call may depend on earlier calls.
  bool is_stateful() const { return is_stateful_; }
  const Graph& graph() const { return *graph_; }
  // The captured tensors of the outer graph, or none if they are bound.
  std::vector<Output> free_tensors() const;
  // The values of the captured tensors, once they are bound.
  const Components& captured() const { return captured_; }
  std::shared_ptr<const DatasetFunction> bind(const TensorBindings& bindings) const;

  // An executable copy of the function: a session with its plan and state, such as random
  // generators. Any thread may call it, but only one at a time.
  class Instance {
   public:
    // Draws automatic seeds from `context`.
    Instance(std::shared_ptr<const DatasetFunction> function, IteratorContext& context);
    Components run(const Components& arguments);
    NamedTensors save() const;
    void restore(const NamedTensors& state);

   private:
    std::shared_ptr<const DatasetFunction> function_;
    mutable std::mutex mutex_;
    mutable Session session_;
    std::shared_ptr<Executor> executor_;
    std::vector<const Tensor*> fed_values_;  // arguments of a call, then the captured values
    std::vector<bool> is_unchanged_;         // whether each fed value is the same in all calls
  };
  std::unique_ptr<Instance> instantiate(IteratorContext& context) const;

 private:
  explicit DatasetFunction(Graph* outer) : graph_(std::make_shared<ElementGraph>(outer)) {}
  void add_arguments(const std::vector<DType>& dtypes, const std::vector<Shape>& shapes);
  bool is_argument(const Operation& op) const;
  void check_variables() const;
  std::vector<Output> feeds() const;

  std::shared_ptr<ElementGraph> graph_;
  std::vector<Output> arguments_, results_;
  Components captured_;  // values of the captured tensors, once bound
  uint64_t fingerprint_ = 0;
  std::vector<bool>
      is_graph_input_;  // for each component, whether the graph has an argument for it
  bool runs_on_main_thread_ = false, is_stateful_ = false;
};

// A function that returns a dataset.
class DatasetValuedFunction : public CoreObject {
 public:
  // `pattern` is the dataset to return, with free tensors. `function` returns their values.
  DatasetValuedFunction(std::shared_ptr<const DatasetFunction> function,
                        std::shared_ptr<const Dataset> pattern)
      : DatasetValuedFunction(std::move(function), pattern, pattern->free_tensors()) {}
  const char* kind() const override { return "a function that gives datasets"; }
  const DatasetFunction& function() const { return *function_; }
  const Dataset& pattern() const { return *pattern_; }
  // Returns the dataset for these arguments; `values` are the results of function() for them.
  std::shared_ptr<const Dataset> make(const Components& values, const Components& arguments) const;
  std::shared_ptr<const DatasetValuedFunction> bind(const TensorBindings& bindings) const;

 private:
  DatasetValuedFunction(std::shared_ptr<const DatasetFunction> function,
                        std::shared_ptr<const Dataset> pattern,
                        std::vector<Output> free_tensors)
      : function_(std::move(function)),
        pattern_(std::move(pattern)),
        free_tensors_(std::move(free_tensors)) {}

  std::shared_ptr<const DatasetFunction> function_;
  std::shared_ptr<const Dataset> pattern_;
  std::vector<Output> free_tensors_;
};

// Returns a placeholder for argument k, a dataset, of the function with this graph. The placeholder
// has the types and shapes of `like`.
std::shared_ptr<Dataset> argument_dataset(const Graph& graph,
                                          size_t k,
                                          std::shared_ptr<const Dataset> like);

}  // namespace runhooks
