// Datasets of every kind, and functions on their elements, for tests.
#pragma once

#include <string>
#include <vector>

#include "data/dataset_function.h"
#include "datasets_test.h"

namespace runhooks_test {

runhooks::Value number(int64_t x);
// Elements of two numbers and a string.
DatasetPtr rows_of(int64_t n);
runhooks::Value function_value(const DatasetPtr& of,
                               const runhooks::DatasetFunction::Builder& builder);
// Doubles the first component, with noise on request.
DatasetPtr doubled(const DatasetPtr& of, int64_t calls = 1, bool noisy = false);
// Keeps elements whose sum, minus an offset, is not negative.
DatasetPtr filtered(const DatasetPtr& of, double least, const char* type = "FilterDataset");
// A function that turns each element into a dataset that repeats it `count` times.
runhooks::Value maker_of(const DatasetPtr& of, int64_t count, bool shuffles);
// Repeats each element twice.
DatasetPtr flat_mapped(const DatasetPtr& of);
DatasetPtr interleaved(const DatasetPtr& of, int64_t cycle, int64_t block);
runhooks::Value list_of(const std::vector<DatasetPtr>& datasets);
// Windows of elements with one component, optionally as batches.
DatasetPtr windows(const DatasetPtr& of,
                   int64_t size,
                   int64_t shift,
                   bool batched,
                   int64_t stride = 1,
                   bool drop_remainder = false);

// At least one dataset of each kind that reads no files.
std::vector<DatasetPtr> kinds_in_memory();
// At least one dataset of each kind that reads files, which are written to the existing `folder`.
std::vector<DatasetPtr> kinds_of_files(const std::string& folder);

}  // namespace runhooks_test
