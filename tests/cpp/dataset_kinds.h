// Datasets of every kind for tests, and elements with functions over them.
#pragma once

#include <string>
#include <vector>

#include "data/dataset_function.h"
#include "datasets_test.h"

namespace runhooks_test {

runhooks::Value number(int64_t x);
// Two numbers and a word each.
DatasetPtr rows_of(int64_t n);
runhooks::Value function_value(const DatasetPtr& of,
                               const runhooks::DatasetFunction::Builder& builder);
// The first component twice as large, with noise where asked for; the others as they are.
DatasetPtr doubled(const DatasetPtr& of, int64_t calls = 1, bool noisy = false);
// Elements of which the sum is not negative after something is taken off.
DatasetPtr filtered(const DatasetPtr& of, double least);
// Each element becomes a dataset of itself, as often as `count` says.
runhooks::Value maker_of(const DatasetPtr& of, int64_t count, bool shuffles);
// Twice.
DatasetPtr flat_mapped(const DatasetPtr& of);
DatasetPtr interleaved(const DatasetPtr& of, int64_t cycle, int64_t block);
runhooks::Value list_of(const std::vector<DatasetPtr>& datasets);
// Windows of elements with one component; batched: as batches.
DatasetPtr windows(const DatasetPtr& of,
                   int64_t size,
                   int64_t shift,
                   bool batched,
                   int64_t stride = 1,
                   bool drop_remainder = false);

// At least one of each kind that reads no files.
std::vector<DatasetPtr> kinds_in_memory();
// Of each kind that does: they are made below `folder`, which is there.
std::vector<DatasetPtr> kinds_of_files(const std::string& folder);

}  // namespace runhooks_test
