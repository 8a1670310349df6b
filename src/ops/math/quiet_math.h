// What lives here: how files of elementwise functions are compiled: with arithmetic that never traps.
// Who may use it: sources of ops as their first include (lint); they are units of their own.
// What it must not know: what is computed.
#pragma once

// Branches become masks then, so that loops of them are vectorised. No result depends on it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif
