// <windows.h> without the macros that collide with ordinary names. No other file may include
// <windows.h>.
#pragma once

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
// In unity builds these macros would rename variables of other sources.
#undef near
#undef far
#undef small
#undef ERROR
#endif
