// Saves the position of an input in checkpoints, so that training can resume in the middle of the
// data.
#pragma once

#include "data/in_memory.h"

namespace runhooks {

// Returns an object that saves the position of an iterator over `rows` rows in memory. A training
// that was stopped within the data resumes there, if the rows are the same. After all epochs, the
// next training starts at the first row, as in TensorFlow.
SaveablePtr make_resumable_input(const Output& handle,
                                 int64_t rows,
                                 int64_t num_epochs,
                                 ResumeMismatch on_other_data);

}  // namespace runhooks
