// What lives here: how many threads a kernel may use.
// Who may use it: every layer.
// What it must not know: what the threads do.
#pragma once

namespace runhooks {

// 1 in a child of fork(), whatever was set: the threads of OpenMP do not survive it.
int kernel_threads() noexcept;
void set_kernel_threads(int threads) noexcept;

}  // namespace runhooks
