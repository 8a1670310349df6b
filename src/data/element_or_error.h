// What lives here: elements that wait, each with the error that came in its place; such errors in a state.
// Who may use it: data.
// What it must not know: what elements wait for, R.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace runhooks {

// An element, or the error that came in its place.
struct ElementOrError {
  Components components;
  std::exception_ptr error;
};

// The next element or error of the input; FALSE at its end. An interrupt is for the call that is
// running, and passes.
bool next_or_error(DatasetIterator& input, ElementOrError& element);

// Elements and errors as a part of a state, the elements below `name`; who goes on meets them in their
// order. The place of the first one counts as `first`.
void serialize_buffered(NamedTensors& state,
               const std::string& name,
               const std::vector<const ElementOrError*>& held,
               int64_t first);
// At most so many, of the elements of `input`. States from before windows kept errors have none.
std::vector<ElementOrError> deserialize_buffered(const NamedTensors& state,
                                   const std::string& name,
                                   const Dataset& input,
                                   int64_t most,
                                   int64_t first);

}  // namespace runhooks
