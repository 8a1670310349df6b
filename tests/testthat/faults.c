/* Counts the calls that change files below a folder, and ends the process at one of them or lets it
 * fail. Loaded before all other libraries (LD_PRELOAD) by test-run_kills_files.R. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { kNothing, kCount, kKill, kFail };
static int mode = kNothing;
static long count = 0, at = 0;
static char root[PATH_MAX];
static char last[PATH_MAX + 64];

void faults_arm(int *how, int *when, char **folder) {
  mode = *how;
  at = *when;
  count = 0;
  last[0] = 0;
  snprintf(root, sizeof root, "%s", folder[0]);
}
void faults_count(int *n) { *n = (int)count; }
void faults_last(char **text) { text[0] = last; }

static int is_below(const char *path) {
  char whole[2 * PATH_MAX];
  if (mode == kNothing || !path) return 0;
  if (path[0] == '/') return strncmp(path, root, strlen(root)) == 0;
  char here[PATH_MAX];
  if (!getcwd(here, sizeof here)) return 0;
  snprintf(whole, sizeof whole, "%s/%s", here, path);
  return strncmp(whole, root, strlen(root)) == 0;
}
static int fd_is_below(int fd) {
  char link[64], path[PATH_MAX];
  if (mode == kNothing) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  return is_below(path);
}
/* 1: the call is to fail */
static int hit(const char *call, const char *path) {
  ++count;
  if (count != at || mode < kKill) return 0;
  if (mode == kKill) kill(getpid(), SIGKILL);
  snprintf(last, sizeof last, "%s %s", call, path ? path : "");
  errno = ENOSPC;
  return 1;
}

#define REAL(type, name, ...)                         \
  static type (*real)(__VA_ARGS__);                   \
  if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, #name)
#define ON_PATH(type, name, failed, path, ARGS, ...)  \
  type name(__VA_ARGS__) {                            \
    REAL(type, name, __VA_ARGS__);                    \
    if (is_below(path) && hit(#name, path)) return failed; \
    return real ARGS;                                 \
  }
#define ON_FD(type, name, failed, fd, ARGS, ...)      \
  type name(__VA_ARGS__) {                            \
    REAL(type, name, __VA_ARGS__);                    \
    if (fd_is_below(fd) && hit(#name, "")) return failed; \
    return real ARGS;                                 \
  }

ON_PATH(int, rename, -1, to, (from, to), const char *from, const char *to)
ON_PATH(int, renameat, -1, to, (a, from, b, to), int a, const char *from, int b, const char *to)
ON_PATH(int, renameat2, -1, to, (a, from, b, to, flags), int a, const char *from, int b,
        const char *to, unsigned flags)
ON_PATH(int, unlink, -1, path, (path), const char *path)
ON_PATH(int, rmdir, -1, path, (path), const char *path)
ON_PATH(int, remove, -1, path, (path), const char *path)
ON_PATH(int, mkdir, -1, path, (path, bits), const char *path, mode_t bits)
ON_PATH(int, link, -1, to, (from, to), const char *from, const char *to)
ON_PATH(int, symlink, -1, to, (from, to), const char *from, const char *to)
ON_FD(ssize_t, write, -1, fd, (fd, data, n), int fd, const void *data, size_t n)
ON_FD(int, fsync, -1, fd, (fd), int fd)
ON_FD(int, ftruncate, -1, fd, (fd, size), int fd, off_t size)
ON_FD(int, ftruncate64, -1, fd, (fd, size), int fd, off64_t size)

int unlinkat(int folder, const char *path, int flags) {
  REAL(int, unlinkat, int, const char *, int);
  const int counts = folder == AT_FDCWD ? is_below(path) : fd_is_below(folder);
  if (counts && hit("unlinkat", path)) return -1;
  return real(folder, path, flags);
}

#define OPEN(name)                                                             \
  int name(const char *path, int flags, ...) {                                 \
    REAL(int, name, const char *, int, ...);                                   \
    va_list rest;                                                              \
    va_start(rest, flags);                                                     \
    const mode_t bits = flags & O_CREAT ? va_arg(rest, mode_t) : 0;            \
    va_end(rest);                                                              \
    const int writes = (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0;           \
    if (writes && is_below(path) && hit(#name, path)) return -1;               \
    return real(path, flags, bits);                                            \
  }
OPEN(open)
OPEN(open64)

#define FOPEN(name)                                                            \
  FILE *name(const char *path, const char *how) {                              \
    REAL(FILE *, name, const char *, const char *);                            \
    const int writes = how[0] != 'r' || strchr(how, '+');                      \
    if (writes && is_below(path) && hit(#name, path)) return NULL;             \
    return real(path, how);                                                    \
  }
FOPEN(fopen)
FOPEN(fopen64)

int fflush(FILE *file) {
  REAL(int, fflush, FILE *);
  if (file && fd_is_below(fileno(file)) && hit("fflush", "")) return EOF;
  return real(file);
}
