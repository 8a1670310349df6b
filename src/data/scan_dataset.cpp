// Maps the elements of the input by a function with a state (tf.data.experimental.scan).
#include <algorithm>

#include "data/elements.h"
#include "data/function_iterator.h"

namespace runhooks {

namespace {

class ScanDataset : public Transformation {
 public:
  explicit ScanDataset(const Args& args)
      : Transformation(dataset_argument(args)),
        state_(dataset_argument(args, "initial_state")),
        function_(args.object<const DatasetFunction>("scan_func", "a graph function")) {
    const std::vector<DType> state = state_->dtypes(), results = function_->dtypes();
    if (results.size() <= state.size() ||
        !std::equal(state.begin(), state.end(), results.begin())) {
      invalid_argument("`scan_func` of ", args.owner(),
                       " must return a state of the types of `initial_state`, and an element.");
    }
  }
  std::vector<DType> dtypes() const override { return without_state(function_->dtypes()); }
  std::vector<Shape> shapes() const override { return without_state(function_->shapes()); }
  int64_t cardinality() const override { return input().cardinality(); }
  bool runs_on_main_thread() const override {
    return input().runs_on_main_thread() || function_->runs_on_main_thread();
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const DatasetFunction& function() const { return *function_; }
  const Dataset& state() const { return *state_; }

 private:
  template <typename T>
  // The function returns the new state, then the components of an element. Returns the latter.
  std::vector<T> without_state(const std::vector<T>& results) const {
    return std::vector<T>(results.begin() + static_cast<long>(state_->dtypes().size()),
                          results.end());
  }

  std::shared_ptr<const Dataset> state_;  // its only element is the initial state
  std::shared_ptr<const DatasetFunction> function_;
};

class ScanIterator : public FunctionIterator<ScanDataset> {
 public:
  ScanIterator(std::shared_ptr<const ScanDataset> dataset, IteratorContext& context)
      : FunctionIterator(std::move(dataset), context) {
    ComponentsSink state;
    dataset_->state().iterator(context)->next(state);
    initial_ = state_ = state.take();
  }
  bool next(ElementSink& sink) override {
    ComponentsSink element;
    if (!input_->next(element)) return false;
    Components arguments = state_;
    for (Tensor& component : element.take()) arguments.push_back(std::move(component));
    Components results = function_->run(arguments);
    const auto element_begin = results.begin() + static_cast<long>(state_.size());
    state_.assign(results.begin(), element_begin);
    sink.emit(Components(element_begin, results.end()));
    return true;
  }

 protected:
  void rewind_own() override { state_ = initial_; }
  NamedTensors save_own() const override {
    NamedTensors state = FunctionIterator::save_own();
    add_subtree(state, "state/", save_elements({&state_}));
    return state;
  }
  void restore_own(const NamedTensors& state) override {
    FunctionIterator::restore_own(state);
    const std::vector<Components> saved =
        read_elements(subtree(state, "state/"), dataset_->state(), 1);
    if (saved.empty()) fail(Code::kDataLoss, "The saved position has no state.");
    state_ = saved[0];
  }

 private:
  Components initial_, state_;
};

std::unique_ptr<DatasetIterator> ScanDataset::iterator(IteratorContext& context) const {
  return std::make_unique<ScanIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(ScanDataset,
                          "",
                          {"dataset: dataset.",
                           "initial_state: dataset. A dataset whose element is the first state.",
                           "scan_func: graph function. Function of state and element."},
                          "Map the elements by a function with a state.");

}  // namespace

}  // namespace runhooks
