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

// Returns a dataset of kind `type` with these arguments. It reads from `input` unless that is NULL.
DatasetPtr dataset_of(const std::string& type, const NamedValues& args, DatasetPtr input = nullptr);
DatasetPtr range_of(int64_t n);
// The kinds of all datasets that dataset_of() has created.
std::set<std::string>& created_types();

// Reads and returns up to `limit` of the remaining elements.
std::vector<runhooks::Components> elements_of(runhooks::DatasetIterator& iterator,
                                              size_t limit = 100000);
// Returns all components of the elements as text, for comparisons and messages.
std::string text_of(const std::vector<runhooks::Components>& elements);
// Returns the numbers in component 0 of up to `limit` elements.
std::vector<double> numbers_of(const runhooks::Dataset& dataset, size_t limit = 100000);

// Saves the state of an iterator after `cut` elements and restores it in another iterator. Checks
// that the latter continues with the elements of an iterator that was not stopped.
void check_resumes(const runhooks::Dataset& dataset, size_t cut, size_t limit);

// Checks that two iterators have the same elements whether they are read alternately or one after
// the other.
void check_iterators_are_independent(const runhooks::Dataset& dataset,
                                     std::mt19937_64& random,
                                     size_t limit);

}  // namespace runhooks_test
