// What lives here: the position of an input that goes on where an earlier training has stopped in the middle of it.
// Who may use it: the bindings.
// What it must not know: particular datasets, models, R.
#pragma once

#include "data/in_memory.h"

namespace runhooks {

// The position of the iterator with this handle, which is one of so many rows in memory, in the
// checkpoints of a model. A training that finds a position in the middle of the same rows goes on
// there. One that had come to their end is followed by another pass, as in TensorFlow.
SaveablePtr make_resumable_input(const Output& handle,
                                 int64_t rows,
                                 int64_t num_epochs,
                                 ResumeMismatch on_other_data);

}  // namespace runhooks
