// Batches: stacks consecutive elements of the input.
#include <algorithm>

#include "base/interrupt.h"
#include "data/one_input_dataset.h"
#include "data/packed_row_cache.h"

namespace runhooks {

namespace {

class BatchDataset : public Transformation {
 public:
  explicit BatchDataset(const Args& args)
      : Transformation(dataset_argument(args)),
        batch_size_(args.integer("batch_size")),
        drop_remainder_(args.flag("drop_remainder", false)) {}
  std::vector<Shape> shapes() const override {
    return batched_shapes(input().shapes(),
                          drop_remainder_ ? constant_or_nullopt("batch_size") : std::nullopt);
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  int64_t cardinality() const override {
    return batched_cardinality(input().cardinality(), batch_size_, drop_remainder_);
  }
  int64_t batch_size() const { return batch_size_; }
  bool drops_remainder() const { return drop_remainder_; }

 private:
  bool commutes_with_sharding() const override { return true; }
  int64_t batch_size_;
  bool drop_remainder_;
};

class BatchIterator : public TransformationIterator<BatchDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  bool next(ElementSink& sink) override {
    const int64_t size = dataset_->batch_size();
    const RowTable* table = dataset_->input().row_table();
    if (!table) {
      const int64_t num_read = input_->next_stacked(size, dataset_->drops_remainder(), sink);
      return num_read == size || (num_read > 0 && !dataset_->drops_remainder());
    }
    int64_t num_read = 0;
    InterruptPoll poll;
    do {  // reads in chunks, because batch_size may be far larger than the data
      poll();
      constexpr int64_t kChunk = 1 << 16;
      const int64_t chunk = std::min(kChunk, size - num_read);
      if (static_cast<int64_t>(numbers_.size()) < num_read + chunk) {
        numbers_.resize(static_cast<size_t>(num_read + chunk));
      }
      const int64_t count = input_->next_rows(chunk, numbers_.data() + num_read);
      num_read += count;
      if (count < chunk) break;
    } while (num_read < size);
    if (num_read == 0 || (num_read < size && dataset_->drops_remainder())) return false;
    if (const PackedRowCache* cache = input_->row_cache()) {
      cache->put_stacked(numbers_.data(), num_read, sink);
    } else {
      table->put_stacked(numbers_.data(), num_read, sink);
    }
    return true;
  }

 private:
  std::vector<int64_t> numbers_;  // row numbers of this batch
};

std::unique_ptr<DatasetIterator> BatchDataset::iterator(IteratorContext& context) const {
  return std::make_unique<BatchIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(BatchDataset,
                          "dataset_batch",
                          {"dataset: dataset.",
                           "batch_size: number in [1, Inf). Number of elements per batch.",
                           "drop_remainder = FALSE: flag. TRUE drops an incomplete last batch."},
                          "Combine consecutive elements into batches.");

}  // namespace

}  // namespace runhooks
