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

// Makes a dense or sparse column from a tensor, R values or a sparse matrix.
InMemoryColumn in_memory_column_from_r(SEXP x, DType dtype);

// --- r/data/in_place.cpp

// Returns zero-copy views of large numeric columns, which preserve the R objects of the columns. A
// view is NULL if the column has to be copied.
std::vector<std::shared_ptr<const ColumnViews>> large_rows_in_place(
    const RList& columns, const std::vector<DType>& dtypes, int64_t batch_size);

// --- r/data/content.cpp

// Returns a text that identifies the content of the columns.
std::string fingerprint_of_columns(SEXP columns);

// --- r/data/iterator.cpp

// Throws unless `handle` is the handle of a dataset.
std::shared_ptr<const Dataset> dataset_from_r(SEXP handle);
std::vector<DType> dtypes_from_r(const Texts& names);
std::vector<Shape> shapes_from_r(SEXP list);

// Makes a handle that protects the graphs that the dataset depends on, and `inputs`, the handles of
// its input datasets.
SEXP dataset_handle(const std::shared_ptr<Dataset>& dataset, SEXP inputs = R_NilValue);
// Returns NULL unless `x` is the handle of a saveable.
SaveablePtr saveable_of(SEXP x);

}  // namespace r
}  // namespace runhooks
