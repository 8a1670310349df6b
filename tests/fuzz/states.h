// States in checkpoints that somebody has edited: of iterators, and of whole runs.
#pragma once

#include <string>

namespace runhooks_fuzz {

// An iterator of some kind, and what was done to its state, follow from the bytes.
void read_state_of_iterator(const std::string& bytes);

// The same of all that a run saves, its hooks too: nothing of it changes, or all does.
void read_state_of_run(const std::string& bytes);

}  // namespace runhooks_fuzz
