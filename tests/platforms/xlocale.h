// What lives here: the name under which Apple declares locales of threads; glibc has them in locale.h.
// Who may use it: sources that tools/platforms.sh reads as for macOS.
// What it must not know: runhooks.
#pragma once

#include <locale.h>
