// What lives here: the position of an input that goes on where an earlier training has stopped in the middle of it.
// Who may use it: the bindings.
// What it must not know: particular datasets, models, R.
#pragma once

#include <string>

#include "data/in_memory.h"

namespace runhooks {

// What the rows are: their values and the names of their columns.
uint64_t content_fingerprint(const std::vector<InMemoryColumn>& columns,
                             const std::vector<std::string>& names);

// The position of the iterator with this handle, which is one of rows in memory, in the checkpoints
// of a model. A training that finds a position in the middle of the same rows goes on there. One
// that had come to their end is followed by another pass, as in TensorFlow; other rows, or the same
// ones read in another way, begin at the first, which a line of the log says.
SaveablePtr make_resumable_input(const Output& handle,
                                 uint64_t content,
                                 int64_t rows,
                                 int64_t num_epochs);

}  // namespace runhooks
