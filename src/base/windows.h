// <windows.h> without its macros that collide with ordinary names.
#pragma once

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
// Sources of one unit see each other's macros, so these would rename local variables.
#undef near
#undef far
#undef small
#undef ERROR
#endif
