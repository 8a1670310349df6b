// Keeps the elements for which a function returns TRUE: all of them, or those up to the first
// FALSE.
#include "data/function_iterator.h"

namespace runhooks {

namespace {

class FilterDataset : public Transformation {
 public:
  explicit FilterDataset(const Args& args)
      : Transformation(dataset_argument(args)),
        function_(args.object<const DatasetFunction>("predicate", "a graph function")) {
    const bool is_flag = function_->dtypes() == std::vector<DType>{DType::kBool} &&
                         function_->shapes()[0].is_compatible_with(Shape());
    if (!is_flag) invalid_argument("`predicate` of ", args.owner(), " must return one logical.");
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  bool runs_on_main_thread() const override {
    return input().runs_on_main_thread() || function_->runs_on_main_thread();
  }
  const DatasetFunction& function() const { return *function_; }

 private:
  bool commutes_with_sharding() const override { return true; }
  std::shared_ptr<const DatasetFunction> function_;
};

bool holds(DatasetFunction::Instance& predicate, const Components& components) {
  const Tensor passes = predicate.run(components)[0];
  if (passes.num_elements() != 1) {
    invalid_argument("A predicate must return one logical, not a tensor of shape ", passes.shape(),
                     ".");
  }
  return *passes.data<bool>();
}

class FilterIterator : public FunctionIterator<FilterDataset> {
 public:
  using FunctionIterator::FunctionIterator;
  bool next(ElementSink& sink) override {
    return next_where(
        sink, [this](const Components& components) { return holds(*function_, components); });
  }
};

std::unique_ptr<DatasetIterator> FilterDataset::iterator(IteratorContext& context) const {
  return std::make_unique<FilterIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(FilterDataset,
                          "",
                          {"dataset: dataset.", "predicate: graph function."},
                          "Keep the elements for which a function returns TRUE.");

// Ends at the first element for which a function returns FALSE.
class TakeWhileDataset : public FilterDataset {
 public:
  using FilterDataset::FilterDataset;
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  bool is_endless() const override { return false; }

 private:
  bool commutes_with_sharding() const override { return false; }
};

class TakeWhileIterator : public FunctionIterator<TakeWhileDataset> {
 public:
  using FunctionIterator::FunctionIterator;
  bool next(ElementSink& sink) override {
    ComponentsSink element;
    if (at_end_ || !input_->next(element)) return false;
    Components components = element.take();
    at_end_ = !holds(*function_, components);
    if (!at_end_) sink.emit(std::move(components));
    return !at_end_;
  }

 protected:
  void rewind_own() override { at_end_ = false; }
  NamedTensors save_own() const override {
    NamedTensors state = FunctionIterator::save_own();
    state.emplace("is_over", Tensor::scalar(at_end_));
    return state;
  }
  void restore_own(const NamedTensors& state) override {
    FunctionIterator::restore_own(state);
    at_end_ = state_flag(state, "is_over");
  }

 private:
  bool at_end_ = false;
};

std::unique_ptr<DatasetIterator> TakeWhileDataset::iterator(IteratorContext& context) const {
  return std::make_unique<TakeWhileIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(
    TakeWhileDataset,
    "",
    {"dataset: dataset.", "predicate: graph function."},
    "Keep the elements before the first one for which a function returns FALSE.");

}  // namespace

}  // namespace runhooks
