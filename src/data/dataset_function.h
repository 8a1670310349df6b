// What lives here: DatasetFunction, a function of elements: a graph of its own that a dataset runs for each of them.
// Who may use it: data, the bindings.
// What it must not know: which datasets have functions, R.
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

  // Adds the function to a graph; a closure of the embedding language is one that does. Called
  // once, when the function is made: what runs later is the graph.
  using Builder = std::function<std::vector<Output>(Graph&, const std::vector<Output>& arguments)>;

  // For elements of these types and shapes; components that are datasets do not get into the graph.
  // It has the seed of `outer`, and may use its tensors.
  static std::shared_ptr<const DatasetFunction> make(const std::vector<DType>& dtypes,
                                                     const std::vector<Shape>& shapes,
                                                     const Builder& builder,
                                                     Graph* outer = nullptr);

  std::vector<DType> dtypes() const;
  std::vector<Shape> shapes() const;
  // Of the graph: two functions of the same are the same but for what lies outside of graphs.
  uint64_t fingerprint() const { return fingerprint_; }
  // TRUE where the graph calls a function of the embedding language.
  bool runs_on_main_thread() const { return runs_on_main_thread_; }
  // TRUE where a call depends on those before it.
  bool is_stateful() const { return is_stateful_; }
  const Graph& graph() const { return *graph_; }
  // The tensors from outside whose values it does not know yet, and those that it knows.
  std::vector<Output> unknowns() const;
  const Components& captured() const { return captured_; }
  std::shared_ptr<const DatasetFunction> with_values(const TensorBindings& known) const;

  // The function at work: a session of its own with its plan and what its operations keep, random
  // generators above all. Any thread may call it, one at a time.
  class Instance {
   public:
    // Seeds that nobody chose are from `context`.
    Instance(std::shared_ptr<const DatasetFunction> function, IteratorContext& context);
    Components run(const Components& arguments);
    NamedTensors save() const;
    void restore(const NamedTensors& state);

   private:
    std::shared_ptr<const DatasetFunction> function_;
    mutable std::mutex mutex_;
    mutable Session session_;
    std::shared_ptr<Executor> executor_;
    std::vector<const Tensor*> fed_;  // in a call: the arguments, then what was captured
    std::vector<bool> stays_;
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
  Components captured_;  // values of what the graph has captured, once they are known
  uint64_t fingerprint_ = 0;
  std::vector<bool> is_in_graph_;  // by component
  bool runs_on_main_thread_ = false, is_stateful_ = false;
};

// A function whose value is a dataset.
class DatasetValuedFunction : public CoreObject {
 public:
  // The function's results are the values of the pattern's unknowns.
  DatasetValuedFunction(std::shared_ptr<const DatasetFunction> function,
               std::shared_ptr<const Dataset> pattern)
      : DatasetValuedFunction(std::move(function), pattern, pattern->unknowns()) {}
  const char* kind() const override { return "a function that gives datasets"; }
  const DatasetFunction& function() const { return *function_; }
  const Dataset& pattern() const { return *pattern_; }
  // Of what the function gave for these arguments.
  std::shared_ptr<const Dataset> make(const Components& values, const Components& arguments) const;
  std::shared_ptr<const DatasetValuedFunction> with_values(const TensorBindings& known) const;

 private:
  DatasetValuedFunction(std::shared_ptr<const DatasetFunction> function,
               std::shared_ptr<const Dataset> pattern,
               std::vector<Output> unknowns)
      : function_(std::move(function)),
        pattern_(std::move(pattern)),
        unknowns_(std::move(unknowns)) {}

  std::shared_ptr<const DatasetFunction> function_;
  std::shared_ptr<const Dataset> pattern_;
  std::vector<Output> unknowns_;
};

// Stands for argument k of the function that is this graph, a dataset like `like`.
std::shared_ptr<Dataset> argument_dataset(const Graph& graph,
                                          size_t k,
                                          std::shared_ptr<const Dataset> like);

}  // namespace runhooks
