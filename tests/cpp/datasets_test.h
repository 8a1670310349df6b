// Datasets by name for tests, and checks that iterators resume.
#pragma once

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace runhooks_test {

using DatasetPtr = std::shared_ptr<runhooks::Dataset>;
using NamedValues = std::vector<std::pair<std::string, runhooks::Value>>;

// A dataset of kind `type` that reads from `input`, if any.
DatasetPtr dataset_of(const std::string& type, const NamedValues& args, DatasetPtr input = nullptr);
DatasetPtr range_of(int64_t n);
// The kinds that dataset_of() has created so far.
std::set<std::string>& types_made();

// Up to `limit` of the remaining elements.
std::vector<runhooks::Components> elements_of(runhooks::DatasetIterator& iterator,
                                              size_t limit = 100000);
// All components as text, for messages.
std::string text_of(const std::vector<runhooks::Components>& elements);
// The numbers of component 0 of all elements.
std::vector<double> numbers_of(const runhooks::Dataset& dataset, size_t limit = 100000);

// Stops an iterator after `cut` elements, restores its state into a new one at another position,
// and checks that it continues with the same elements as an uninterrupted one.
void check_goes_on(const runhooks::Dataset& dataset, size_t cut, size_t limit);

// Checks that two interleaved iterators give the same elements as separate ones.
void check_strangers(const runhooks::Dataset& dataset, std::mt19937_64& random, size_t limit);

}  // namespace runhooks_test
