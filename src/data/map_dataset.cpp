// Applies a function to each element of the input, optionally on several threads.
#include "data/function_iterator.h"
#include "data/prefetch_iterator.h"

namespace runhooks {

namespace {

class MapDataset : public Transformation {
 public:
  explicit MapDataset(const Args& args)
      : Transformation(dataset_argument(args)),
        function_(args.object<const DatasetFunction>("function", "a graph function")),
        num_parallel_calls_(args.integer("num_parallel_calls", 1)) {}
  std::vector<DType> dtypes() const override { return function_->dtypes(); }
  std::vector<Shape> shapes() const override { return function_->shapes(); }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  int64_t cardinality() const override { return input().cardinality(); }
  bool runs_on_main_thread() const override {
    return input().runs_on_main_thread() || function_->runs_on_main_thread();
  }
  const DatasetFunction& function() const { return *function_; }
  // Returns the number of threads. Functions that are stateful or call R must run serially.
  size_t workers() const {
    const bool must_run_serially = function_->runs_on_main_thread() || function_->is_stateful();
    return must_run_serially ? 1 : static_cast<size_t>(num_parallel_calls_);
  }

 private:
  bool commutes_with_sharding() const override { return true; }
  std::shared_ptr<const DatasetFunction> function_;
  int64_t num_parallel_calls_;
};

class MapIterator : public FunctionIterator<MapDataset> {
 public:
  using FunctionIterator::FunctionIterator;
  bool next(ElementSink& sink) override {
    ComponentsSink element;
    if (!input_->next(element)) return false;
    sink.emit(function_->run(element.take()));
    return true;
  }
};

std::unique_ptr<DatasetIterator> MapDataset::iterator(IteratorContext& context) const {
  if (workers() == 1) return std::make_unique<MapIterator>(self(this), context);
  PrefetchIterator::Options options;
  options.workers = workers();
  options.capacity = options.workers;
  options.reads_on_caller = input().runs_on_main_thread();
  using Instance = std::shared_ptr<DatasetFunction::Instance>;
  std::vector<Instance> functions;  // one per worker
  for (size_t i = 0; i < options.workers; ++i) {
    functions.emplace_back(function().instantiate(context));
  }
  const auto work = [functions](size_t worker, const Components& element) {
    return functions[worker]->run(element);
  };
  return std::make_unique<PrefetchIterator>(self(this), input().iterator(context), options, work);
}

RUNHOOKS_REGISTER_DATASET(
    MapDataset,
    "",
    {"dataset: dataset.", "function: graph function.",
     "num_parallel_calls = NULL: number in [1, 1024]. Number of threads that run the function."},
    "Apply a function to each element.");

}  // namespace

}  // namespace runhooks
