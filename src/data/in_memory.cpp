#include "data/in_memory.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/random.h"
#include "data/data_fingerprint.h"
#include "data/one_input_dataset.h"
#include "data/packed_rows.h"
#include "data/row_gather.h"

namespace runhooks {

namespace {

class InMemoryDataset : public Dataset {
 public:
  InMemoryDataset(std::vector<InMemoryColumn> columns, const InMemoryOptions& options)
      : columns_(std::move(columns)), options_(options) {
    if (columns_.empty()) invalid_argument("A dataset needs at least one tensor.");
    const Shape first = columns_[0].shape();
    rows_ = first.rank() == 0 ? 0 : first.dim(0);
    for (const InMemoryColumn& column : columns_) {
      const Shape shape = column.shape();
      if (shape.rank() == 0 || shape.dim(0) != rows_) {
        invalid_argument("All tensors of a dataset must have the same number of rows; got shapes ",
                         first, " and ", shape, ".");
      }
    }
    if (options.batch_size < 1) {
      invalid_argument("The batch size must be 1 or more, not ", options.batch_size, ".");
    }
  }

  std::vector<DType> dtypes() const override {
    std::vector<DType> result;
    for (const InMemoryColumn& column : columns_) result.push_back(column.dtype());
    return result;
  }
  std::vector<Shape> shapes() const override {
    std::vector<Shape> result;
    for (const InMemoryColumn& column : columns_) {
      Shape shape = column.shape();
      shape.set_dim(
          0, options_.num_epochs == 0 && rows_ > 0 ? options_.batch_size : Shape::kUnknownDim);
      result.push_back(shape);
    }
    return result;
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  std::string description() const override;
  bool is_part() const override { return options_.readers > 1; }
  std::string pipeline_signature() const override {
    return str_cat("rows in memory, batch_size = ", options_.batch_size,
                   ", num_epochs = ", options_.num_epochs,
                   ", shuffle = ", options_.shuffle ? "TRUE" : "FALSE");
  }
  void add_data_to(DataFingerprint& fingerprint) const override {
    fingerprint.add(std::string_view(str_join(options_.names, "\n")));
    add_columns(fingerprint, columns_, fingerprint_);
  }

  const std::vector<InMemoryColumn>& columns() const { return columns_; }
  const InMemoryOptions& options() const { return options_; }
  int64_t rows() const { return rows_; }
  bool has_epoch(int64_t epoch) const {
    return rows_ > 0 && (options_.num_epochs == 0 || epoch < options_.num_epochs);
  }

 private:
  std::vector<InMemoryColumn> columns_;
  InMemoryOptions options_;
  int64_t rows_ = 0;
  LazyFingerprint fingerprint_;
};

class InMemoryIterator : public DatasetIterator {
 public:
  explicit InMemoryIterator(std::shared_ptr<const InMemoryDataset> dataset)
      : dataset_(std::move(dataset)), seed_(dataset_->options().seed) {
    for (const InMemoryColumn& column : dataset_->columns()) {
      row_bytes_.push_back(row_bytes(column));
    }
    if (dataset_->options().shuffle) select_packed_columns();
  }

  bool next(ElementSink& sink) override {
    int64_t n = next_batch_rows();
    for (; n > 0 && !is_own_batch(); n = next_batch_rows()) skip_rows(n);
    if (n == 0) return false;
    if (n == dataset_->rows() && position_ == 0 && emit_all_rows(sink)) {
      rows_seen_ += n;
      return true;
    }
    targets_.clear();
    if (n != described_rows_) describe_batch(n);
    for (size_t i = 0; i < batch_columns_.size(); ++i) {
      const BatchColumn& batch_column = batch_columns_[i];
      Tensor& target = sink.allocate(static_cast<int>(i), batch_column.dtype, batch_column.shape);
      if (batch_column.dtype == DType::kString) {
        target.set_dictionary(dataset_->columns()[i].tensor.dictionary());
      }
      targets_.push_back(static_cast<char*>(target.raw()));
    }
    const int64_t epoch = epoch_, position = position_;
    try {
      fill_batch(n);
    } catch (...) {  // an interrupt; goes back, so that the next call repeats this batch
      if (epoch_ != epoch) begin_epoch(epoch);
      position_ = position;
      throw;
    }
    rows_seen_ += n;
    return true;
  }

  NamedTensors save() const override {
    return {{"epoch", Tensor::scalar(epoch_)},
            {"first_epoch", Tensor::scalar(first_epoch_)},
            {"position", Tensor::scalar(position_)},
            {"rows_seen", Tensor::scalar(rows_seen_)},
            {"seed", Tensor::scalar(static_cast<int64_t>(seed_))}};
  }
  void restore(const NamedTensors& state) override {
    const int64_t epoch = state_count(state, "epoch"), seed = state_integer(state, "seed"),
                  position = state_integer(state, "position"),
                  first_epoch = state_count(state, "first_epoch"),
                  rows_seen = state_count(state, "rows_seen"),
                  epochs = dataset_->options().num_epochs;
    const bool is_past_end = epochs > 0 && dataset_->rows() > 0 && epoch - first_epoch > epochs;
    if (epoch < first_epoch || is_past_end || position < 0 || position > dataset_->rows()) {
      fail(Code::kDataLoss, "Invalid saved position: row ", position, " of epoch ", epoch, " in ",
           dataset_->rows(), " rows of data.");
    }
    seed_ = static_cast<uint64_t>(seed);
    first_epoch_ = first_epoch;
    begin_epoch(epoch);
    position_ = position;
    rows_seen_ = rows_seen;
  }
  int64_t rows_seen() const override { return rows_seen_; }
  int64_t epoch() const override { return epoch_; }
  // The epoch number continues, because each epoch has a different order.
  void rewind() override {
    begin_epoch(position_ == 0 ? epoch_ : epoch_ + 1);
    first_epoch_ = epoch_;
  }

 private:
  size_t row_bytes(const InMemoryColumn& column) const {
    if (column.views) return column.views->row_bytes();
    if (column.sparse) return static_cast<size_t>(column.sparse->width) * sizeof(double);
    const auto rows = static_cast<size_t>(dataset_->rows());
    return rows == 0 ? 0 : column.tensor.num_bytes() / rows;
  }
  // Tensors with one element per row are packed only if there are at least this many; packing fewer
  // columns is slower.
  static constexpr int64_t kMinPackedColumns = 32;
  // Selects the columns to pack: all column views, and the tensors with one element per row if
  // there are at least kMinPackedColumns.
  void select_packed_columns() {
    const auto& columns = dataset_->columns();
    const auto num_scalar_columns =
        std::count_if(columns.begin(), columns.end(),
                      [](const auto& column) { return column.has_scalar_rows(); });
    packs_scalar_rows_ = num_scalar_columns >= kMinPackedColumns;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (!is_packed(columns[i])) continue;
      packed_columns_.push_back(i);
      views_.push_back(columns[i].has_scalar_rows()
                           ? std::make_shared<const ColumnViews>(columns[i].tensor)
                           : columns[i].views);
    }
  }
  bool is_packed(const InMemoryColumn& column) const {
    return column.views || (packs_scalar_rows_ && column.has_scalar_rows());
  }
  // Emits all rows in order without copying them; returns false if that is not possible.
  bool emit_all_rows(ElementSink& sink) {
    if (dataset_->options().shuffle) return false;
    Components components;
    for (const InMemoryColumn& column : dataset_->columns()) {
      if (column.sparse || column.views) return false;
      components.push_back(column.tensor);
    }
    sink.emit(std::move(components));
    position_ = dataset_->rows();
    return true;
  }

  // Sets `batch_columns_` for a batch of n rows.
  void describe_batch(int64_t n) {
    batch_columns_.clear();
    for (const InMemoryColumn& column : dataset_->columns()) {
      batch_columns_.push_back({column.dtype(), column.shape()});
      batch_columns_.back().shape.set_dim(0, n);
    }
    described_rows_ = n;
  }

  // Returns the number of rows of the next batch, of this or another reader; 0 at the end.
  int64_t next_batch_rows() {
    if (position_ == dataset_->rows()) begin_epoch(epoch_ + 1);
    if (!dataset_->has_epoch(epoch_ - first_epoch_)) return 0;
    return std::min(dataset_->options().batch_size, rows_left());
  }
  bool is_own_batch() const {
    const InMemoryOptions& options = dataset_->options();
    if (options.readers == 1) return true;
    const int64_t row = (epoch_ - first_epoch_) * dataset_->rows() + position_;
    return row / options.batch_size % options.readers == options.reader;
  }
  void skip_rows(int64_t n) {
    for (;;) {
      const int64_t count = std::min(n, dataset_->rows() - position_);
      position_ += count;
      n -= count;
      if (n == 0) return;
      begin_epoch(epoch_ + 1);
    }
  }
  // Returns the number of rows left in all epochs, or the batch size if more rows are left.
  int64_t rows_left() const {
    const InMemoryOptions& options = dataset_->options();
    if (options.num_epochs == 0) return options.batch_size;
    const int64_t epochs_after = options.num_epochs - (epoch_ - first_epoch_) - 1;
    const int64_t rows_in_epoch = dataset_->rows() - position_;
    if (rows_in_epoch >= options.batch_size || epochs_after > options.batch_size)
      return options.batch_size;
    return rows_in_epoch + epochs_after * dataset_->rows();
  }

  void begin_epoch(int64_t epoch) {
    epoch_ = epoch;
    position_ = 0;
    order_.clear();
    shuffled_rows_.clear();
  }

  void shuffle() {
    order_.resize(static_cast<size_t>(dataset_->rows()));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    Philox random(seed_, static_cast<uint64_t>(epoch_));
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
  }

  void fill_batch(int64_t n) {
    int64_t num_filled = 0;
    while (true) {
      if (dataset_->options().shuffle && order_.empty()) shuffle();
      const int64_t count = std::min(n - num_filled, dataset_->rows() - position_);
      if (!order_.empty() && !packed_columns_.empty()) fill_packed(num_filled, count);
      row_gather_.clear();
      for (size_t i = 0; i < row_bytes_.size(); ++i) {
        fill_column(i, targets_[i] + static_cast<size_t>(num_filled) * row_bytes_[i], count);
      }
      row_gather_.gather(order_.data() + position_, count);
      num_filled += count;
      position_ += count;
      if (num_filled == n) return;
      begin_epoch(epoch_ + 1);
    }
  }

  // Appends the next n rows of this epoch after the first `num_filled` rows of the batch.
  void fill_packed(int64_t num_filled, int64_t n) {
    packed_targets_.clear();
    for (const size_t i : packed_columns_) {
      packed_targets_.push_back(targets_[i] + static_cast<size_t>(num_filled) * row_bytes_[i]);
    }
    shuffled_rows_.read(views_, order_, position_, n, packed_targets_.data());
  }
  // Appends the next n rows of column i at `target`, unless fill_packed() has filled the column.
  // Shuffled tensors are only added to `row_gather_`, which later copies all of them at once.
  void fill_column(size_t i, char* target, int64_t n) {
    const InMemoryColumn& column = dataset_->columns()[i];
    const int64_t* order = order_.empty() ? nullptr : order_.data() + position_;
    if (column.sparse) {
      column.sparse->scatter(reinterpret_cast<double*>(target), order, position_, n);
      return;
    }
    if (order && is_packed(column)) return;
    if (column.views) return column.views->read(position_, n, target);
    const auto* source = static_cast<const char*>(column.tensor.raw());
    const size_t bytes = row_bytes_[i];
    if (order) return row_gather_.add(source, target, bytes);
    std::memcpy(target, source + static_cast<size_t>(position_) * bytes,
                static_cast<size_t>(n) * bytes);
  }

  std::shared_ptr<const InMemoryDataset> dataset_;
  std::vector<size_t> row_bytes_;
  struct BatchColumn {
    DType dtype;
    Shape shape;
  };
  std::vector<BatchColumn> batch_columns_;  // types and shapes of a batch of `described_rows_` rows
  int64_t described_rows_ = -1;
  std::vector<char*> targets_, packed_targets_;
  RowGather row_gather_;        // copies the rows of shuffled tensors
  std::vector<int64_t> order_;  // row numbers in the order of this epoch; empty if not shuffled
  bool packs_scalar_rows_ = false;
  std::vector<size_t> packed_columns_;  // indices of the packed columns
  ColumnViewsList views_;               // views of the packed columns
  ShuffledRows shuffled_rows_;
  int64_t first_epoch_ = 0, epoch_ = 0, position_ = 0, rows_seen_ = 0;
  uint64_t seed_;
};

std::unique_ptr<DatasetIterator> InMemoryDataset::iterator(IteratorContext&) const {
  return std::make_unique<InMemoryIterator>(self(this));
}

std::string InMemoryDataset::description() const {
  std::vector<std::string> columns;
  for (const InMemoryColumn& column : columns_) {
    columns.push_back(str_cat(dtype_name(column.dtype()), column.shape()));
  }
  return str_cat("rows in memory (", str_join(columns, ", "),
                 "), batch_size = ", options_.batch_size, ", num_epochs = ", options_.num_epochs,
                 ", shuffle = ", options_.shuffle ? "TRUE" : "FALSE");
}

}  // namespace

void SparseRows::scatter(double* to, const int64_t* order, int64_t position, int64_t n) const {
  std::fill(to, to + n * width, 0.0);
  for (int64_t i = 0; i < n; ++i, to += width) {
    const auto row = static_cast<size_t>(order ? order[i] : position + i);
    for (auto k = static_cast<size_t>(starts[row]); k < static_cast<size_t>(starts[row + 1]); ++k) {
      to[columns[k]] = values[k];
    }
  }
}

DType InMemoryColumn::dtype() const {
  if (views) return views->dtype();
  return sparse ? DType::kFloat64 : tensor.dtype();
}

Shape InMemoryColumn::shape() const {
  if (views) return views->shape();
  if (!sparse) return tensor.shape();
  return Shape{static_cast<int64_t>(sparse->starts.size()) - 1, sparse->width};
}

std::shared_ptr<Dataset> in_memory_dataset(std::vector<InMemoryColumn> columns,
                                           const InMemoryOptions& options) {
  return std::make_shared<InMemoryDataset>(std::move(columns), options);
}

}  // namespace runhooks
