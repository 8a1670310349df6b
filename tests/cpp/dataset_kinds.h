// Datasets of every kind, and functions on their elements, for tests.
#pragma once

#include <string>
#include <vector>

#include "data/dataset_function.h"
#include "datasets_test.h"

namespace runhooks_test {

runhooks::Value number(int64_t x);
// Returns a dataset with `n` elements, each of two numbers and a string.
DatasetPtr rows_of(int64_t n);
runhooks::Value function_value(const DatasetPtr& input,
                               const runhooks::DatasetFunction::Builder& builder);
// Doubles the first component. If `noisy` is true, also adds random numbers.
DatasetPtr doubled(const DatasetPtr& input, int64_t num_parallel_calls = 1, bool noisy = false);
// A dataset of this type whose predicate holds for elements whose first component has a number of
// at least `threshold`.
DatasetPtr filtered(const DatasetPtr& input, double threshold, const char* type = "FilterDataset");
// Returns a function whose value is a dataset with `count` copies of its argument, shuffled if
// `shuffles` is true.
runhooks::Value repeating_function(const DatasetPtr& input, int64_t count, bool shuffles);
// Repeats each element twice.
DatasetPtr flat_mapped(const DatasetPtr& input);
DatasetPtr interleaved(const DatasetPtr& input, int64_t cycle, int64_t block);
runhooks::Value list_of(const std::vector<DatasetPtr>& datasets);
// Returns windows of `input`, whose elements have one component. If `batched` is true, each window
// becomes a batch.
DatasetPtr windows(const DatasetPtr& input,
                   int64_t size,
                   int64_t shift,
                   bool batched,
                   int64_t stride = 1,
                   bool drop_remainder = false);

// Returns at least one dataset of each kind that reads no files.
std::vector<DatasetPtr> datasets_in_memory();
// Writes files to the existing directory `folder`, and returns at least one dataset of each kind
// that reads files.
std::vector<DatasetPtr> datasets_of_files(const std::string& folder);

}  // namespace runhooks_test
