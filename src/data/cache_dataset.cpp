// Caches the input's elements in memory, so that later passes do not read the input.
#include "data/elements.h"
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

class CacheDataset : public Transformation {
 public:
  explicit CacheDataset(const Args& args) : Transformation(dataset_argument(args)) {}
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  int64_t cardinality() const override { return input().cardinality(); }

 private:
  bool commutes_with_sharding() const override { return true; }
};

class CacheIterator : public TransformationIterator<CacheDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  bool next(ElementSink& sink) override {
    if (!is_complete_) {
      ComponentsSink element;
      if (!input_->next(element)) {
        is_complete_ = true;
        return false;
      }
      elements_.push_back(element.take());
    }
    if (position_ == static_cast<int64_t>(elements_.size())) return false;
    for (size_t k = 0; k < elements_[static_cast<size_t>(position_)].size(); ++k) {
      sink.copy(static_cast<int>(k), elements_[static_cast<size_t>(position_)][k]);
    }
    ++position_;
    ++rows_seen_;
    return true;
  }
  // Discards the elements of an incomplete pass.
  void rewind() override {
    position_ = 0;
    if (is_complete_) return;
    elements_.clear();
    input_->rewind();
  }
  int64_t rows_seen() const override { return rows_seen_; }

 protected:
  NamedTensors save_own() const override {
    NamedTensors state = {{"position", Tensor::scalar(position_)},
                          {"rows_seen", Tensor::scalar(rows_seen_)},
                          {"is_complete", Tensor::scalar(is_complete_)}};
    std::vector<const Components*> elements;
    for (const Components& element : elements_) elements.push_back(&element);
    add_subtree(state, "elements/", save_elements(elements));
    return state;
  }
  void restore_own(const NamedTensors& state) override {
    std::vector<Components> elements = read_elements(subtree(state, "elements/"), *dataset_);
    const int64_t position = state_count(state, "position"),
                  rows_seen = state_count(state, "rows_seen"),
                  size = static_cast<int64_t>(elements.size());
    const bool is_complete = state_flag(state, "is_complete");
    // While the cache is incomplete, the position is always at its end.
    if (position > size || (position < size && !is_complete)) {
      fail(Code::kDataLoss, "Invalid saved position ", position, " in a cache of ", size,
           " elements.");
    }
    elements_ = std::move(elements);
    position_ = position;
    rows_seen_ = rows_seen;
    is_complete_ = is_complete;
  }

 private:
  std::vector<Components> elements_;
  int64_t position_ = 0, rows_seen_ = 0;
  bool is_complete_ = false;
};

std::unique_ptr<DatasetIterator> CacheDataset::iterator(IteratorContext& context) const {
  return std::make_unique<CacheIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(CacheDataset, "", {"dataset: dataset."}, "Cache the elements in memory.");

}  // namespace

}  // namespace runhooks
