// What lives here: what Apple's system headers declare and glibc's do not, to read the branches for Apple.
// Who may use it: tools/platforms.sh, as the first header of a source that is compiled and not linked.
// What it must not know: runhooks.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define F_FULLFSYNC 51
#define RENAME_SWAP 2
#define st_mtimespec st_mtim
#define st_ctimespec st_ctim
extern "C" int renamex_np(const char* from, const char* to, unsigned flags);
