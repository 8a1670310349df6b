// What R gave as rows of a dataset, and iterators among what is saved.
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

// What R gave for the rows of a column of a dataset: a tensor or a sparse matrix.
InMemoryColumn column_from_r(SEXP x, DType wanted);

// --- r/data/in_place.cpp

// Of the columns of a dataset those that are read where they lie, and held: where they are many
// numbers, in many batches. The others are NULL.
std::vector<std::shared_ptr<const ColumnViews>> large_rows_in_place(
    const RList& columns, const std::vector<DType>& wanted, int64_t batch_size);

// --- r/data/content.cpp

// A fingerprint of a list of columns, to tell them from others.
std::string content_of_columns(SEXP columns);

// --- r/data/iterator.cpp

// A handle that keeps the graphs of tensors that the dataset depends on, and `parts`: the handles of
// datasets and functions that it is made of.
SEXP dataset_handle(const std::shared_ptr<Dataset>& dataset, SEXP parts = R_NilValue);
// NULL where it is none.
SaveablePtr saveable_of(SEXP x);

}  // namespace r
}  // namespace runhooks
