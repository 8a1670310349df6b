// Edited checkpoint states of iterators and whole runs, for fuzzing.
#pragma once

#include <string>

namespace runhooks_fuzz {

// The bytes select a kind of iterator and the edit of its state.
void read_state_of_iterator(const std::string& bytes);

// The same for all states of a run, including hooks. A restore must change everything or nothing.
void read_state_of_run(const std::string& bytes);

}  // namespace runhooks_fuzz
