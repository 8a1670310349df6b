// Apple's sysctlbyname() for syntax checks of code for macOS, see apple.h.
#pragma once

#include <stddef.h>

extern "C" int sysctlbyname(const char* name, void* old, size_t* size, void* now, size_t now_size);
