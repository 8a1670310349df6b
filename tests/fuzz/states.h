// What lives here: positions of iterators in checkpoints that somebody has edited.
// Who may use it: readers.cpp only.
// What it must not know: where the bytes come from.
#pragma once

#include <string>

namespace runhooks_fuzz {

// An iterator of some kind, and what was done to its state, follow from the bytes.
void read_state_of_iterator(const std::string& bytes);

}  // namespace runhooks_fuzz
