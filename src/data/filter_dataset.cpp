// Keeps the input's elements for which a function returns TRUE.
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

class FilterIterator : public FunctionIterator<FilterDataset> {
 public:
  using FunctionIterator::FunctionIterator;
  bool next(ElementSink& sink) override {
    return next_where(sink, [this](const Components& components) {
      const Tensor passes = function_->run(components)[0];
      if (passes.num_elements() != 1) {
        invalid_argument("A predicate must return one logical, not a tensor of shape ",
                         passes.shape(), ".");
      }
      return *passes.data<bool>();
    });
  }
};

std::unique_ptr<DatasetIterator> FilterDataset::iterator(IteratorContext& context) const {
  return std::make_unique<FilterIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(FilterDataset,
                          "",
                          {"dataset: dataset.", "predicate: graph function."},
                          "Keep the elements for which a function returns TRUE.");

}  // namespace

}  // namespace runhooks
