// Disables trapping arithmetic for files of elementwise functions. Lint requires it as their first
// include.
#pragma once

// Lets the compiler turn branches into masks and vectorize the loops. Results do not change.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif
