// What lives here: how files of elementwise functions are compiled: with arithmetic that never traps.
// Who may use it: ops, as the first include of a file; after others it would keep theirs from being inlined.
// What it must not know: what is computed.
#pragma once

// Branches become masks then, so that loops of them are vectorised. No result depends on it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif
