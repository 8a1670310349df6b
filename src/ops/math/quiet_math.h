// Lets the compiler assume that floating-point arithmetic does not trap. Lint requires it as the
// first include of files with elementwise functions.
#pragma once

// GCC can then replace branches by masks and vectorize the loops. Results do not change.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif
