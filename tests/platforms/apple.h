// What lives here: what Apple's headers declare and glibc's do not, so that the branches for Apple can be read.
// Who may use it: tools/platforms.sh, as the first header of a source that is neither linked nor run.
// What it must not know: runhooks.
#pragma once

// The standard library is that of this machine, and is read before this becomes a Mac.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <vector>

#undef __linux__
#undef __GLIBC__
#define __APPLE__ 1

#define F_FULLFSYNC 51
#define RENAME_SWAP 2
#define st_mtimespec st_mtim
#define st_ctimespec st_ctim
extern "C" int renamex_np(const char* from, const char* to, unsigned flags);
