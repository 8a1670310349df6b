// What lives here: RUNHOOKS_INLINE, for functions that are to be no calls.
// Who may use it: every layer.
// What it must not know: what the functions do.
#pragma once

// A call inside of a loop keeps the loop from being vectorised. And GCC drops the calls of a function
// that does nothing but ask for memory ahead, which is without effect in its eyes.
#if defined(__GNUC__)
#define RUNHOOKS_INLINE __attribute__((always_inline)) inline
#else
#define RUNHOOKS_INLINE inline
#endif
