// What lives here: Apple's question for facts of the machine, as apple.h.
// Who may use it: sources that tools/platforms.sh reads as for macOS.
// What it must not know: runhooks.
#pragma once

#include <stddef.h>

extern "C" int sysctlbyname(const char* name, void* old, size_t* size, void* now, size_t now_size);
