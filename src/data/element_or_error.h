// ElementOrError: a buffered element or the error raised instead of it, with serialization.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace runhooks {

// An element, or the error raised instead of it.
struct ElementOrError {
  Components components;
  std::exception_ptr error;
};

// Reads the next element or error of the input; false at its end. Interrupts propagate, because
// they concern the current call.
bool next_or_error(DatasetIterator& input, ElementOrError& element);

// Serializes elements and errors in order, the elements under `name`. Positions are relative to
// `first`.
void serialize_buffered(NamedTensors& state,
               const std::string& name,
               const std::vector<const ElementOrError*>& buffered,
               int64_t first);
// Reads at most the given number of elements of `input`. States from before windows stored errors
// contain none.
std::vector<ElementOrError> deserialize_buffered(const NamedTensors& state,
                                   const std::string& name,
                                   const Dataset& input,
                                   int64_t max_count,
                                   int64_t first);

}  // namespace runhooks
