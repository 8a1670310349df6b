// Declarations of Apple's headers that glibc lacks, so that tools/platforms.sh can check the syntax
// of the code for Apple.
#pragma once

// Reads this machine's standard library before the macros of macOS are defined.
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
