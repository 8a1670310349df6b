// RangeDataset: has the elements `from`, `from + by`, ..., up to but excluding `to`.
#include "base/interruptible_chunks.h"
#include "data/indexed_iterator.h"

namespace runhooks {

namespace {

class RangeDataset : public Dataset, public RowTable {
 public:
  explicit RangeDataset(const Args& args)
      : from_(args.integer("from", 0)), by_(args.integer("by", 1)) {
    const int64_t to = args.integer("to", 0);
    if (by_ == 0) invalid_argument("`by` of ", args.owner(), " must not be 0.");
    const int64_t distance = to - from_;
    if ((distance > 0) == (by_ > 0) && distance != 0) {
      size_ = distance / by_ + (distance % by_ != 0);
    }
  }
  std::vector<DType> dtypes() const override { return {DType::kInt64}; }
  std::vector<Shape> shapes() const override { return {Shape()}; }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const RowTable* row_table() const override { return this; }
  int64_t num_rows() const override { return size_; }
  int64_t cardinality() const override { return num_rows(); }
  void put(int64_t number, ElementSink& sink) const override {
    *sink.allocate(0, DType::kInt64, Shape()).data<int64_t>() = value_at(number);
  }
  void put_stacked(const int64_t* numbers, int64_t n, ElementSink& sink) const override {
    auto* to = sink.allocate(0, DType::kInt64, Shape{n}).data<int64_t>();
    for_each_interruptible_chunk(n, sizeof(int64_t), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) to[i] = value_at(numbers[i]);
    });
  }

 private:
  int64_t value_at(int64_t i) const { return from_ + i * by_; }

  int64_t from_, by_, size_ = 0;
};

std::unique_ptr<DatasetIterator> RangeDataset::iterator(IteratorContext&) const {
  return std::make_unique<IndexedIterator<RangeDataset>>(self(this));
}

RUNHOOKS_REGISTER_DATASET(RangeDataset,
                          "range_dataset",
                          {"from = 0: number. The first number.",
                           "to = 0: number. End of the range, exclusive.",
                           "by = 1: number. Step, which may be negative."},
                          "A range of int64 numbers.");

}  // namespace

}  // namespace runhooks
