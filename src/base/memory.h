// What lives here: how much memory the process may use.
// Who may use it: every layer.
// What it must not know: what the memory is for, R.
#pragma once

#include <cstdint>

namespace runhooks {

// Bytes that the machine has, or the container that the process runs in, where that is less; the
// largest number where the system does not tell.
uint64_t memory_limit();

}  // namespace runhooks
