// IndexedIterator: iterates over a dataset whose elements have an index.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "data/one_input_dataset.h"

namespace runhooks {

// D is a dataset with num_rows() and put(number, sink), such as a RowTable.
template <typename D>
class IndexedIterator : public DatasetIterator {
 public:
  explicit IndexedIterator(std::shared_ptr<const D> dataset) : dataset_(std::move(dataset)) {}
  bool next(ElementSink& sink) override {
    if (position_ == dataset_->num_rows()) return false;
    dataset_->put(position_, sink);
    ++position_;
    ++rows_seen_;
    return true;
  }
  int64_t next_rows(int64_t n, int64_t* numbers) override {
    n = std::min(n, dataset_->num_rows() - position_);
    std::iota(numbers, numbers + n, position_);
    position_ += n;
    rows_seen_ += n;
    return n;
  }
  void rewind() override { position_ = 0; }
  NamedTensors save() const override {
    return {{"position", Tensor::scalar(position_)}, {"rows_seen", Tensor::scalar(rows_seen_)}};
  }
  void restore(const NamedTensors& state) override {
    const int64_t position = state_count(state, "position"),
                  rows_seen = state_count(state, "rows_seen");
    if (position > dataset_->num_rows()) {
      fail(Code::kDataLoss, "Invalid saved position ", position, " in ", dataset_->num_rows(),
           " elements.");
    }
    position_ = position;
    rows_seen_ = rows_seen;
  }
  int64_t rows_seen() const override { return rows_seen_; }

 private:
  std::shared_ptr<const D> dataset_;
  int64_t position_ = 0, rows_seen_ = 0;
};

}  // namespace runhooks
