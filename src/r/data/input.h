// Conversion of R data to columns of datasets, and handles of datasets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "graph/saveable.h"
#include "r/values/values.h"

namespace runhooks {

struct InMemoryColumn;
class ColumnViews;

namespace r {

// --- r/data/dataset.cpp

// A dense or sparse column from a tensor, R values or a sparse matrix.
InMemoryColumn in_memory_column_from_r(SEXP x, DType wanted);

// --- r/data/in_place.cpp

// Zero-copy views of large numeric columns, which stay preserved; NULL for columns to copy.
std::vector<std::shared_ptr<const ColumnViews>> large_rows_in_place(
    const RList& columns, const std::vector<DType>& wanted, int64_t batch_size);

// --- r/data/content.cpp

std::string content_of_columns(SEXP columns);

// --- r/data/iterator.cpp

// The handle protects the graphs that the dataset depends on and `parts`, the handles of its
// inputs.
SEXP dataset_handle(const std::shared_ptr<Dataset>& dataset, SEXP parts = R_NilValue);
// NULL unless `x` is the handle of a saveable.
SaveablePtr saveable_of(SEXP x);

}  // namespace r
}  // namespace runhooks
