// Produces the input's elements on a background thread.
#include "data/one_input_dataset.h"
#include "data/prefetch_iterator.h"

namespace runhooks {

namespace {

constexpr int64_t kAutoBufferSize = 2;  // number of elements if the argument buffer_size is -1

class PrefetchDataset : public Transformation {
 public:
  explicit PrefetchDataset(const Args& args)
      : Transformation(dataset_argument(args)), buffer_size_(args.integer("buffer_size", -1)) {
    if (buffer_size_ < 0) buffer_size_ = kAutoBufferSize;
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  int64_t cardinality() const override { return input().cardinality(); }

 private:
  bool commutes_with_sharding() const override { return true; }
  int64_t buffer_size_;
};

// Reads the input on demand. Used if the input calls R, which cannot run on another thread.
class UnbufferedIterator : public TransformationIterator<PrefetchDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  bool next(ElementSink& sink) override { return input_->next(sink); }
};

std::unique_ptr<DatasetIterator> PrefetchDataset::iterator(IteratorContext& context) const {
  if (buffer_size_ == 0 || runs_on_main_thread()) {
    return std::make_unique<UnbufferedIterator>(self(this), context);
  }
  PrefetchIterator::Options options;
  options.capacity = static_cast<size_t>(buffer_size_);
  return std::make_unique<PrefetchIterator>(
      self(this), input().iterator(context), options,
      [](size_t, const Components& element) { return element; });
}

RUNHOOKS_REGISTER_DATASET(
    PrefetchDataset,
    "dataset_prefetch",
    {"dataset: dataset.",
     "buffer_size = NULL: number in [-1, Inf). Number of elements to produce ahead; "
     "`NULL` and -1 choose it automatically."},
    "Produce elements ahead on a background thread. Inputs that call R (generators, "
    "`on_values()`) are read on demand instead, because R runs on one thread.");

}  // namespace

}  // namespace runhooks
