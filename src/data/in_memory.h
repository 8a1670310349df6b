// In-memory dataset: batches of rows of tensors and sparse matrices, optionally shuffled and
// repeated.
#pragma once

#include "data/column_views.h"
#include "data/dataset.h"

namespace runhooks {

// A float64 matrix in compressed row format.
struct SparseRows : CoreObject {
  const char* kind() const override { return "a sparse matrix"; }
  // Writes rows `order[0]` to `order[n - 1]` as dense rows. If `order` is NULL, writes the `n` rows
  // from `position` on.
  void scatter(double* to, const int64_t* order, int64_t position, int64_t n) const;

  int64_t width = 0;
  std::vector<int64_t> starts;  // offset of each row, and the end
  std::vector<int32_t> columns;
  std::vector<double> values;
};

// A column of the data: a tensor, a view of R vectors, or sparse rows. Sparse rows are made dense
// batch by batch.
struct InMemoryColumn {
  InMemoryColumn(Tensor rows) : tensor(std::move(rows)) {}
  InMemoryColumn(std::shared_ptr<const SparseRows> rows) : sparse(std::move(rows)) {}
  InMemoryColumn(std::shared_ptr<const ColumnViews> rows) : views(std::move(rows)) {}
  DType dtype() const;
  Shape shape() const;
  // True for a tensor with one element per row.
  bool has_scalar_rows() const { return !sparse && !views && tensor.shape().rank() == 1; }

  Tensor tensor;
  std::shared_ptr<const SparseRows> sparse;
  std::shared_ptr<const ColumnViews> views;
};

struct InMemoryOptions {
  int64_t batch_size = 128;
  int64_t num_epochs = 1;  // 0: unlimited
  bool shuffle = false;
  uint64_t seed = 0;
  // The number of readers that share the batches, and the index of this reader, from 0. It gets
  // batch i if i modulo `readers` is `reader`.
  int64_t readers = 1, reader = 0;
  std::vector<std::string> names;  // column names, if any; included in the fingerprint
};

// The first dimension of every column is the number of rows. The rows of several epochs form one
// stream: a batch may span two epochs, and only the last batch can be short. If shuffled, the order
// of an epoch depends only on the seed and the number of the epoch.
std::shared_ptr<Dataset> in_memory_dataset(std::vector<InMemoryColumn> columns,
                                           const InMemoryOptions& options);

}  // namespace runhooks
