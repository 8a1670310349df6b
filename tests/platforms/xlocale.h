// Declares the thread locales of Apple for a syntax check; glibc has them in locale.h.  lint: allow file
#pragma once

#include <locale.h>
