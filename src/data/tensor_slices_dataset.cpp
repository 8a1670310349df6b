// An element for each row of tensors and sparse matrices.
#include <algorithm>
#include <cstring>

#include "data/elements.h"
#include "data/in_memory.h"
#include "data/transformation.h"

namespace runhooks {

namespace {

// Of a tensor that is not known yet there is no column.
InMemoryColumn column_of(const Value& value, const Args& args) {
  if (value.get_if<Output>()) return InMemoryColumn(Tensor());
  if (const auto* tensor = value.get_if<Tensor>()) return InMemoryColumn(*tensor);
  const auto* made = value.get_if<std::shared_ptr<Made>>();
  auto sparse = made ? std::dynamic_pointer_cast<const SparseRows>(*made) : nullptr;
  if (!sparse) invalid_argument("`components` of ", args.owner(), " must be tensors.");
  return InMemoryColumn(std::move(sparse));
}

class TensorSlicesDataset : public Dataset {
 public:
  explicit TensorSlicesDataset(const Args& args) {
    for (const Value& value : args.list("components")) {
      const auto* unknown = value.get_if<Output>();
      columns_.push_back(column_of(value, args));
      dtypes_.push_back(unknown ? unknown->dtype() : columns_.back().dtype());
      add_shape(unknown ? unknown->shape() : columns_.back().shape());
    }
    if (columns_.empty()) invalid_argument("A dataset needs at least one tensor.");
  }
  std::vector<DType> dtypes() const override { return dtypes_; }
  std::vector<Shape> shapes() const override { return shapes_; }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const std::vector<InMemoryColumn>& columns() const { return columns_; }
  int64_t rows() const { return rows_; }

 private:
  // Of a component with all its rows.
  void add_shape(const Shape& shape) {
    if (!shape.has_rank()) {
      shapes_.push_back(shape);
      return;
    }
    if (shape.rank() == 0) {
      invalid_argument("A single value has no rows; tensors_dataset() takes it.");
    }
    if (rows_ == Shape::kUnknownDim) rows_ = shape.dim(0);
    if (shape.dim(0) != Shape::kUnknownDim && shape.dim(0) != rows_) {
      invalid_argument("All tensors of a dataset must have the same number of rows; got ", rows_,
                       " and ", shape.dim(0), ".");
    }
    Shape row;
    for (int d = 1; d < shape.rank(); ++d) row.append(shape.dim(d));
    shapes_.push_back(row);
  }

  std::vector<InMemoryColumn> columns_;
  std::vector<DType> dtypes_;
  std::vector<Shape> shapes_;
  int64_t rows_ = Shape::kUnknownDim;
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
