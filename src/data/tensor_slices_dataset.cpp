// An element for each row of tensors and sparse matrices.
#include <algorithm>
#include <cstring>

#include "data/elements.h"
#include "data/in_memory.h"
#include "data/transformation.h"

namespace runhooks {

namespace {

InMemoryColumn column_of(const Value& value, const Args& args) {
  if (const auto* tensor = value.get_if<Tensor>()) return InMemoryColumn(*tensor);
  const auto* made = value.get_if<std::shared_ptr<Made>>();
  auto sparse = made ? std::dynamic_pointer_cast<const SparseRows>(*made) : nullptr;
  if (!sparse) invalid_argument("`components` of ", args.owner(), " must be tensors.");
  return InMemoryColumn(std::move(sparse));
}

class TensorSlicesDataset : public Dataset {
 public:
  explicit TensorSlicesDataset(const Args& args) {
    for (const Value& value : args.list("components")) columns_.push_back(column_of(value, args));
    if (columns_.empty()) invalid_argument("A dataset needs at least one tensor.");
    for (const InMemoryColumn& column : columns_) {
      const Shape shape = column.shape();
      if (shape.rank() == 0) {
        invalid_argument("A single value has no rows; tensors_dataset() takes it.");
      }
      if (shape.dim(0) == columns_[0].shape().dim(0)) continue;
      invalid_argument("All tensors of a dataset must have the same number of rows; got shapes ",
                       columns_[0].shape(), " and ", shape, ".");
    }
  }
  std::vector<DType> dtypes() const override {
    std::vector<DType> all;
    for (const InMemoryColumn& column : columns_) all.push_back(column.dtype());
    return all;
  }
  std::vector<Shape> shapes() const override {
    std::vector<Shape> all;
    for (const InMemoryColumn& column : columns_) {
      Shape row;
      for (int d = 1; d < column.shape().rank(); ++d) row.append(column.shape().dim(d));
      all.push_back(row);
    }
    return all;
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const std::vector<InMemoryColumn>& columns() const { return columns_; }
  int64_t rows() const { return columns_[0].shape().dim(0); }

 private:
  std::vector<InMemoryColumn> columns_;
};

class TensorSlicesIterator : public DatasetIterator {
 public:
  explicit TensorSlicesIterator(std::shared_ptr<const TensorSlicesDataset> dataset)
      : dataset_(std::move(dataset)), shapes_(dataset_->shapes()) {}
  bool next(ElementSink& sink) override {
    if (position_ == dataset_->rows()) return false;
    for (size_t i = 0; i < shapes_.size(); ++i) put_row(static_cast<int>(i), sink);
    ++position_;
    ++rows_seen_;
    return true;
  }
  void rewind() override { position_ = 0; }
  NamedTensors save() const override {
    return {{"position", Tensor::scalar(position_)}, {"rows_seen", Tensor::scalar(rows_seen_)}};
  }
  void restore(const NamedTensors& state) override {
    const int64_t position = state_count(state, "position");
    rows_seen_ = state_count(state, "rows_seen");
    if (position > dataset_->rows()) {
      fail(Code::kDataLoss, "There is no row ", position, " in ", dataset_->rows(),
           " rows of data.");
    }
    position_ = position;
  }
  int64_t rows_seen() const override { return rows_seen_; }

 private:
  void put_row(int i, ElementSink& sink) const {
    const InMemoryColumn& column = dataset_->columns()[static_cast<size_t>(i)];
    Tensor& row = sink.allocate(i, column.dtype(), shapes_[static_cast<size_t>(i)]);
    if (column.sparse) {
      column.sparse->spread(row.data<double>(), nullptr, position_, 1);
      return;
    }
    if (column.dtype() == DType::kString) row.set_dictionary(column.tensor.dictionary());
    const size_t bytes = row.num_bytes();
    if (bytes == 0) return;
    const auto* from = static_cast<const char*>(column.tensor.raw());
    std::memcpy(row.raw(), from + static_cast<size_t>(position_) * bytes, bytes);
  }

  std::shared_ptr<const TensorSlicesDataset> dataset_;
  std::vector<Shape> shapes_;
  int64_t position_ = 0, rows_seen_ = 0;
};

std::unique_ptr<DatasetIterator> TensorSlicesDataset::iterator(IteratorContext&) const {
  return std::make_unique<TensorSlicesIterator>(self(this));
}

// R's function takes nested lists of tensors apart before.
RUNHOOKS_REGISTER_DATASET(
    "TensorSliceDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<TensorSlicesDataset>(args);
    },
    "",
    {"components: any. Tensors and sparse matrices of the same number of rows."},
    "An element for each row.");

}  // namespace

}  // namespace runhooks
