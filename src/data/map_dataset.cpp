#include "data/map_dataset.h"

#include <algorithm>

#include "data/element_queue.h"

namespace runhooks {

namespace {

const std::string kSource = "source/", kFunction = "function/", kQueue = "queue/";

class MapDataset : public Dataset {
 public:
  MapDataset(std::shared_ptr<const Dataset> source,
             std::shared_ptr<const DatasetFunction> function,
             int64_t ahead)
      : source_(std::move(source)), function_(std::move(function)), ahead_(ahead) {
    if (ahead < 0) invalid_argument("The number of elements ahead must be 0 or more.");
  }
  std::vector<DType> dtypes() const override { return function_->dtypes(); }
  std::vector<Shape> shapes() const override { return function_->shapes(); }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  std::string description() const override {
    return str_cat("map (function = ", static_cast<unsigned long>(function_->fingerprint()),
                   ", ahead = ", ahead_, ") of ", source_->description());
  }
  bool runs_on_main_thread() const override {
    return source_->runs_on_main_thread() || function_->runs_on_main_thread();
  }
  const Dataset& source() const { return *source_; }
  const DatasetFunction& function() const { return *function_; }
  size_t ahead() const { return static_cast<size_t>(ahead_); }

 private:
  std::shared_ptr<const Dataset> source_;
  std::shared_ptr<const DatasetFunction> function_;
  int64_t ahead_;
};

class MapIterator : public DatasetIterator {
 public:
  MapIterator(std::shared_ptr<const MapDataset> dataset, IteratorContext& context)
      : dataset_(std::move(dataset)),
        source_(dataset_->source().iterator(context)),
        function_(dataset_->function().instantiate()),
        queue_(dataset_->dtypes(), dataset_->shapes()) {}

  bool next(ElementSink& sink) override {
    while (queue_.size() < dataset_->ahead() + 1 && pull()) continue;
    if (queue_.empty()) return false;
    const Element element = queue_.pop();
    sink.put_all(element.components);
    rows_seen_ = element.rows_seen;
    epoch_ = element.epoch;
    return true;
  }
  void rewind() override {
    source_->rewind();
    queue_.clear();
  }
  NamedTensors save() const override {
    NamedTensors state = {{"rows_seen", Tensor::scalar(rows_seen_)},
                          {"epoch", Tensor::scalar(epoch_)}};
    add_subtree(state, kSource, source_->save());
    add_subtree(state, kFunction, function_->save());
    add_subtree(state, kQueue, queue_.save());
    return state;
  }
  void restore(const NamedTensors& state) override {
    const int64_t rows_seen = state_integer(state, "rows_seen"),
                  epoch = state_integer(state, "epoch");
    queue_.restore(subtree(state, kQueue));
    source_->restore(subtree(state, kSource));
    function_->restore(subtree(state, kFunction));
    rows_seen_ = rows_seen;
    epoch_ = epoch;
  }
  int64_t rows_seen() const override { return rows_seen_; }
  int64_t epoch() const override { return epoch_; }

 private:
  // The source's next element, through the function, into the queue; FALSE where there is none.
  bool pull() {
    ComponentsSink sink;
    if (!source_->next(sink)) return false;
    queue_.push({function_->run(sink.take()), source_->rows_seen(), source_->epoch()});
    return true;
  }

  std::shared_ptr<const MapDataset> dataset_;
  std::unique_ptr<DatasetIterator> source_;
  std::unique_ptr<DatasetFunction::Instance> function_;
  ElementQueue queue_;
  int64_t rows_seen_ = 0, epoch_ = 0;
};

std::unique_ptr<DatasetIterator> MapDataset::iterator(IteratorContext& context) const {
  return std::make_unique<MapIterator>(self(this), context);
}

}  // namespace

// lint: allow caller (tests show the mechanism with it)
std::shared_ptr<Dataset> map_dataset(std::shared_ptr<const Dataset> source,
                                     std::shared_ptr<const DatasetFunction> function,
                                     int64_t ahead) {
  return std::make_shared<MapDataset>(std::move(source), std::move(function), ahead);
}

}  // namespace runhooks
