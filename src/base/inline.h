// RUNHOOKS_INLINE, for functions that are to be no calls.
#pragma once

// A call inside of a loop keeps the loop from being vectorised. And GCC drops the calls of a function
// that does nothing but ask for memory ahead, which is without effect in its eyes.
#if defined(__GNUC__)
#define RUNHOOKS_INLINE __attribute__((always_inline)) inline
#else
#define RUNHOOKS_INLINE inline
#endif
