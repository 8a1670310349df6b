// How much memory the process may use, and how much of it large buffers take.
#pragma once

#include <cstdint>

namespace runhooks {

// Bytes that the machine has, or the container that the process runs in, where that is less; the
// largest number where the system does not tell.
uint64_t memory_limit();
// Another limit, as tests want one. Returns the one before.
uint64_t set_memory_limit(uint64_t bytes);

// What large pieces of memory take together. A system that promises more than there is would end the
// process when it is used: FALSE where the piece does not fit.
bool reserve_memory(uint64_t bytes);
void release_memory(uint64_t bytes);
uint64_t memory_taken();

}  // namespace runhooks
