// Datasets by name for tests, and the check that iterators go on where they stopped.
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

// A dataset of this kind; `input` is what it reads from, if it does.
DatasetPtr dataset_of(const std::string& type, const NamedValues& args, DatasetPtr input = nullptr);
DatasetPtr range_of(int64_t n);
// Those that were asked for so far.
std::set<std::string>& types_made();

// At most `limit` elements that are left.
std::vector<runhooks::Components> elements_of(runhooks::DatasetIterator& iterator,
                                              size_t limit = 100000);
// All components as text, so that a difference can be shown.
std::string text_of(const std::vector<runhooks::Components>& elements);
// The numbers of component 0 one after the other.
std::vector<double> numbers_of(const runhooks::Dataset& dataset, size_t limit = 100000);

// Stops an iterator after `cut` elements, hands its state to a new one that has been elsewhere, and
// checks that it goes on with the same elements as one that was never stopped.
void check_goes_on(const runhooks::Dataset& dataset, size_t cut, size_t limit);

// Two iterators that take turns give what each of them gives alone.
void check_strangers(const runhooks::Dataset& dataset, std::mt19937_64& random, size_t limit);

}  // namespace runhooks_test
