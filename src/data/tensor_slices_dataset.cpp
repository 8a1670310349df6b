// TensorSliceDataset: has one element per row of the given tensors and sparse matrices.
#include <algorithm>

#include "base/interruptible_chunks.h"
#include "data/data_fingerprint.h"
#include "data/elements.h"
#include "data/in_memory.h"
#include "data/indexed_iterator.h"
#include "data/one_input_dataset.h"
#include "data/packed_row_cache.h"
#include "data/row_gather.h"

namespace runhooks {

namespace {

// Returns an empty column for a tensor that is not bound yet.
InMemoryColumn column_of(const Value& value, const Args& args) {
  if (value.get_if<Output>()) return InMemoryColumn(Tensor());
  if (const auto* tensor = value.get_if<Tensor>()) return InMemoryColumn(*tensor);
  const auto* object = value.get_if<std::shared_ptr<CoreObject>>();
  auto sparse = object ? std::dynamic_pointer_cast<const SparseRows>(*object) : nullptr;
  if (!sparse) invalid_argument("`components` of ", args.owner(), " must be tensors.");
  return InMemoryColumn(std::move(sparse));
}

class TensorSliceDataset : public Dataset, public RowTable {
 public:
  explicit TensorSliceDataset(const Args& args) {
    for (const Value& value : args.list("components")) {
      const auto* free_tensor = value.get_if<Output>();
      columns_.push_back(column_of(value, args));
      dtypes_.push_back(free_tensor ? free_tensor->dtype() : columns_.back().dtype());
      add_shape(free_tensor ? free_tensor->shape() : columns_.back().shape());
    }
    if (columns_.empty()) invalid_argument("A dataset needs at least one tensor.");
  }
  std::vector<DType> dtypes() const override { return dtypes_; }
  std::vector<Shape> shapes() const override { return shapes_; }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const RowTable* row_table() const override { return this; }
  int64_t num_rows() const override { return num_rows_; }
  int64_t cardinality() const override { return num_rows(); }
  void put(int64_t number, ElementSink& sink) const override {
    put_rows(&number, 1, shapes_, sink);
  }
  void put_stacked(const int64_t* numbers, int64_t n, ElementSink& sink) const override {
    put_rows(numbers, n, batched_shapes(shapes_, n), sink);
  }
  void add_data_to(DataFingerprint& content) const override {
    add_columns(content, columns_, fingerprint_);
  }
  void prefetch(const int64_t* numbers, int64_t n) const override {
    constexpr size_t kLine = 64;  // bytes per cache line
    for (const InMemoryColumn& column : columns_) {
      if (column.sparse || num_rows_ == 0) continue;
      const size_t bytes = column.tensor.num_bytes() / static_cast<size_t>(num_rows_);
      if (bytes == 0 || bytes > kLine) continue;
      const auto* from = static_cast<const char*>(column.tensor.raw());
      const auto rows_per_line = static_cast<int64_t>(kLine / bytes);
      for (int64_t i = 0; i < n; i += rows_per_line) {
        __builtin_prefetch(from + static_cast<size_t>(numbers[i]) * bytes);
      }
    }
  }

  std::shared_ptr<PackedRowCache> make_row_cache(int64_t buffer_size) const override {
    constexpr size_t kMaxCachedRowBytes = 64;  // longer rows use full cache lines anyway
    std::vector<PackedRowCache::Column> columns;
    for (size_t k = 0; k < columns_.size(); ++k) {
      const Tensor& tensor = columns_[k].tensor;
      if (columns_[k].sparse || tensor.dtype() == DType::kString || num_rows_ == 0) return nullptr;
      const size_t bytes = tensor.num_bytes() / static_cast<size_t>(num_rows_);
      if (bytes == 0 || bytes > kMaxCachedRowBytes) return nullptr;
      columns.push_back({static_cast<const char*>(tensor.raw()), bytes, dtypes_[k], shapes_[k]});
    }
    return PackedRowCache::make(std::move(columns), num_rows_, buffer_size);
  }

 private:
  bool identifies_data(const std::string& argument) const override {
    return argument == "components";
  }
  // Emits rows as an element of these shapes.
  void put_rows(const int64_t* numbers,
                int64_t n,
                const std::vector<Shape>& shapes,
                ElementSink& sink) const {
    RowGather row_gather;
    for (size_t k = 0; k < columns_.size(); ++k) {
      const InMemoryColumn& column = columns_[k];
      Tensor& to = sink.allocate(static_cast<int>(k), dtypes_[k], shapes[k]);
      if (column.sparse) {
        put_sparse_rows(*column.sparse, numbers, n, to);
        continue;
      }
      if (to.dtype() == DType::kString) to.set_dictionary(column.tensor.dictionary());
      const size_t bytes = n == 0 ? 0 : to.num_bytes() / static_cast<size_t>(n);
      row_gather.add(column.tensor.raw(), to.raw(), bytes);
    }
    row_gather.gather(numbers, n);
  }
  static void put_sparse_rows(const SparseRows& rows,
                              const int64_t* numbers,
                              int64_t n,
                              Tensor& to) {
    const size_t bytes = static_cast<size_t>(rows.width) * sizeof(double);
    for_each_interruptible_chunk(n, bytes, [&](int64_t first, int64_t last) {
      rows.scatter(to.data<double>() + first * rows.width, numbers + first, 0, last - first);
    });
  }

  // Adds a component; `shape` includes the dimension of the rows.
  void add_shape(const Shape& shape) {
    if (!shape.has_rank()) {
      shapes_.push_back(shape);
      return;
    }
    if (shape.rank() == 0) {
      invalid_argument("A single value has no rows; use tensors_dataset().");
    }
    if (num_rows_ == Shape::kUnknownDim) num_rows_ = shape.dim(0);
    if (shape.dim(0) != Shape::kUnknownDim && shape.dim(0) != num_rows_) {
      invalid_argument("All tensors of a dataset must have the same number of rows; got ",
                       num_rows_, " and ", shape.dim(0), ".");
    }
    shapes_.push_back(element_shape(shape));
  }

  std::vector<InMemoryColumn> columns_;
  std::vector<DType> dtypes_;
  std::vector<Shape> shapes_;
  int64_t num_rows_ = Shape::kUnknownDim;
  LazyFingerprint fingerprint_;
};

std::unique_ptr<DatasetIterator> TensorSliceDataset::iterator(IteratorContext&) const {
  return std::make_unique<IndexedIterator<TensorSliceDataset>>(self(this));
}

// The R function flattens nested lists of tensors before it calls this class.
RUNHOOKS_REGISTER_DATASET(
    TensorSliceDataset,
    "",
    {"components: any. Tensors and sparse matrices of the same number of rows."},
    "One element per row of tensors.");

}  // namespace

}  // namespace runhooks
