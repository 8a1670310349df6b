// What lives here: batches of rows of tensors and sparse matrices in memory, shuffled or not, repeated or not.
// Who may use it: the bindings, estimators.
// What it must not know: where the tensors came from, R.
#pragma once

#include "data/dataset.h"
#include "data/column_views.h"

namespace runhooks {

// A matrix of float64 of which only some elements are kept, row by row; the others are 0.
struct SparseRows : CoreObject {
  const char* kind() const override { return "a sparse matrix"; }
  // Rows `order[0 ... n - 1]`, or from row `position` on where there is no order, with their zeros.
  void spread(double* to, const int64_t* order, int64_t position, int64_t n) const;

  int64_t width = 0;
  std::vector<int64_t> starts;  // of each row, and the end
  std::vector<int32_t> columns;
  std::vector<double> values;
};

// A tensor, or rows that become one batch by batch.
struct InMemoryColumn {
  InMemoryColumn(Tensor rows) : tensor(std::move(rows)) {}
  InMemoryColumn(std::shared_ptr<const SparseRows> rows) : sparse(std::move(rows)) {}
  InMemoryColumn(std::shared_ptr<const ColumnViews> rows) : in_place(std::move(rows)) {}
  DType dtype() const;
  Shape shape() const;

  Tensor tensor;
  std::shared_ptr<const SparseRows> sparse;
  std::shared_ptr<const ColumnViews> in_place;
};

struct InMemoryOptions {
  int64_t batch_size = 128;
  int64_t num_epochs = 1;  // 0: for ever
  bool shuffle = false;
  uint64_t seed = 0;
  // Of so many readers this is one, from 0 on: batch i is that of reader i mod `readers`.
  int64_t readers = 1, reader = 0;
  std::vector<std::string> names;  // of the columns, where they have any: a part of what they are
};

// The first dimension of every column counts the rows. With several epochs the rows are one stream
// that is cut into batches, so a batch may hold the last rows of one epoch and the first of the
// next; only the very last one can be short. When shuffled, each epoch has an order of its own,
// which depends on the seed and the epoch alone.
std::shared_ptr<Dataset> in_memory_dataset(std::vector<InMemoryColumn> columns,
                                           const InMemoryOptions& options);

}  // namespace runhooks
