// ElementOrError: a buffered element or the error raised instead of it, with serialization.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace runhooks {

struct ElementOrError {
  Components components;
  std::exception_ptr error;  // NULL for an element
};

// Reads the next element or error of the input; returns false at its end. An interrupt is not
// stored in `element` but thrown, because it concerns the current call only.
bool next_or_error(DatasetIterator& input, ElementOrError& element);

// Saves elements and errors to `state`. Names of the saved elements begin with `name`. Errors are
// saved with their positions; the first item has position `first`.
void serialize_buffered(NamedTensors& state,
                        const std::string& name,
                        const std::vector<const ElementOrError*>& buffered,
                        int64_t first);
// Restores at most `max_count` elements of `input`, and the errors between them. States saved by
// earlier versions of runhooks contain no errors.
std::vector<ElementOrError> deserialize_buffered(const NamedTensors& state,
                                                 const std::string& name,
                                                 const Dataset& input,
                                                 int64_t max_count,
                                                 int64_t first);

}  // namespace runhooks
