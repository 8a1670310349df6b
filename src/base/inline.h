// RUNHOOKS_INLINE: forces a function to be inlined.
#pragma once

// A call inside a loop prevents vectorization. GCC also drops calls to functions that only
// prefetch, because it considers them free of side effects.
#if defined(__GNUC__)
#define RUNHOOKS_INLINE __attribute__((always_inline)) inline
#else
#define RUNHOOKS_INLINE inline
#endif
