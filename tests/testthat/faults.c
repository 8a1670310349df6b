/* Counts the calls by which a process changes files below a folder, and kills the process at one of
   them or lets one fail, as a disk does that is full: loaded before everything else (LD_PRELOAD) by
   test-suite_kills_files.R. Systems that lack something are had by faults_lack(). */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* kTear: killed in the midst of a write; kShort: half of it is on the disk when it fails; kFull:
   from then on nothing can be made or written, while names can be changed and removed. */
enum { kNothing, kCount, kKill, kFail, kTear, kShort, kFull };
static int mode = kNothing;
static long count = 0, at = 0;
static char root[PATH_MAX];
/* Of each call: kWrite of bytes, kName where it takes no room on the disk, kMake for others. */
enum { kWrite = 'w', kName = 'n', kMake = 'm' };
static char kinds[1 << 16];

void faults_arm(int *how, int *when, char **folder) {
  mode = *how;
  at = *when;
  count = 0;
  memset(kinds, 0, sizeof kinds);
  snprintf(root, sizeof root, "%s", folder[0]);
}
void faults_count(int *n) { *n = (int)count; }
void faults_kinds(char **text) { text[0] = kinds; }

/* --- what a system may lack */
static int lacks_exchange = 0, lacks_links = 0;
static char disk[PATH_MAX]; /* a folder that stands for one on which another disk is mounted */

void faults_lack(int *exchange, int *links, char **mounted) {
  lacks_exchange = *exchange;
  lacks_links = *links;
  snprintf(disk, sizeof disk, "%s", mounted[0]);
}

static int is_on_disk(const char *path) {
  const size_t n = strlen(disk);
  return n && strncmp(path, disk, n) == 0 && path[n] == '/';
}
/* 0, or why `from` cannot get the name `to` */
static int cannot_move(const char *from, const char *to) {
  if (disk[0] && (strcmp(from, disk) == 0 || strcmp(to, disk) == 0)) return EBUSY;
  return is_on_disk(from) == is_on_disk(to) ? 0 : EXDEV;
}
static int lacks(int reason) {
  if (reason) errno = reason;
  return reason;
}

/* --- which calls count */
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
  if (mode == kNothing || fd < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  return is_below(path);
}
/* 1: the call is to fail; of writes 2: after half of it */
static int hit_of(char kind) {
  if (count + 1 < (long)sizeof kinds) kinds[count] = kind;
  ++count;
  const int is_full = mode == kFull && count >= at && kind != kName;
  if (mode < kKill || !(is_full || (mode != kFull && count == at))) return 0;
  if (mode == kKill || (mode == kTear && kind != kWrite)) kill(getpid(), SIGKILL);
  errno = ENOSPC;
  return kind == kWrite && (mode == kTear || mode == kShort) ? 2 : 1;
}

#define REAL(type, name, ...)                         \
  static type (*real)(__VA_ARGS__);                   \
  if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, #name)
#define ON_PATH(name, kind, path, ARGS, ...)           \
  int name(__VA_ARGS__) {                              \
    REAL(int, name, __VA_ARGS__);                      \
    if (is_below(path) && hit_of(kind)) return -1;     \
    return real ARGS;                                  \
  }
#define ON_FD(type, name, fd, ARGS, ...)               \
  type name(__VA_ARGS__) {                             \
    REAL(type, name, __VA_ARGS__);                     \
    if (fd_is_below(fd) && hit_of(kMake)) return -1;   \
    return real ARGS;                                  \
  }
/* What gives `from` another name, or one more. */
#define MOVE(name, kind, lacking, ARGS, ...)                                           \
  int name(__VA_ARGS__) {                                                              \
    REAL(int, name, __VA_ARGS__);                                                      \
    if (is_below(to) && (lacks(lacking) || lacks(cannot_move(from, to)))) return -1;   \
    if (is_below(to) && hit_of(kind)) return -1;                                       \
    return real ARGS;                                                                  \
  }

MOVE(rename, kName, 0, (from, to), const char *from, const char *to)
MOVE(renameat, kName, 0, (a, from, b, to), int a, const char *from, int b, const char *to)
MOVE(renameat2, kName, lacks_exchange && flags == 2 ? EINVAL : 0, (a, from, b, to, flags), int a,
     const char *from, int b, const char *to, unsigned flags)
MOVE(link, kMake, lacks_links ? EPERM : 0, (from, to), const char *from, const char *to)
MOVE(linkat, kMake, lacks_links ? EPERM : 0, (a, from, b, to, flags), int a, const char *from,
     int b, const char *to, int flags)
ON_PATH(unlink, kName, path, (path), const char *path)
ON_PATH(rmdir, kName, path, (path), const char *path)
ON_PATH(remove, kName, path, (path), const char *path)
ON_PATH(mkdir, kMake, path, (path, bits), const char *path, mode_t bits)
ON_PATH(mkdirat, kMake, path, (fd, path, bits), int fd, const char *path, mode_t bits)
ON_PATH(symlink, kMake, to, (from, to), const char *from, const char *to)
ON_PATH(symlinkat, kMake, to, (from, fd, to), const char *from, int fd, const char *to)
ON_PATH(truncate, kName, path, (path, size), const char *path, off_t size)
ON_FD(int, fsync, fd, (fd), int fd)
ON_FD(int, ftruncate, fd, (fd, size), int fd, off_t size)
ON_FD(int, ftruncate64, fd, (fd, size), int fd, off64_t size)
ON_FD(ssize_t, sendfile, to, (to, from, place, n), int to, int from, off_t *place, size_t n)
ON_FD(ssize_t, sendfile64, to, (to, from, place, n), int to, int from, off64_t *place, size_t n)
ON_FD(ssize_t, copy_file_range, to, (from, a, to, b, n, flags), int from, off64_t *a, int to,
      off64_t *b, size_t n, unsigned flags)

int unlinkat(int folder, const char *path, int flags) {
  REAL(int, unlinkat, int, const char *, int);
  const int counts = folder == AT_FDCWD ? is_below(path) : fd_is_below(folder);
  if (counts && hit_of(kName)) return -1;
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
    if (writes && is_below(path) && hit_of(kMake)) return -1;                          \
    return real(path, flags, bits);                                            \
  }
OPEN(open)
OPEN(open64)

#define FOPEN(name)                                                            \
  FILE *name(const char *path, const char *how) {                              \
    REAL(FILE *, name, const char *, const char *);                            \
    const int writes = how[0] != 'r' || strchr(how, '+');                      \
    if (writes && is_below(path) && hit_of(kMake)) return NULL;                        \
    return real(path, how);                                                    \
  }
FOPEN(fopen)
FOPEN(fopen64)

/* --- writing: half of the bytes first, where that is asked for */
static ssize_t write_half(int fd, const char *data, size_t n) {
  static ssize_t (*real)(int, const void *, size_t);
  if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, "write");
  const ssize_t written = n > 1 ? real(fd, data, n / 2) : 0;
  if (mode == kTear) kill(getpid(), SIGKILL);
  errno = ENOSPC;
  return written > 0 ? written : -1;
}
static void write_half_of_buffer(FILE *file) {
  write_half(fileno(file), file->_IO_write_base, __fpending(file));
  __fpurge(file);
  errno = ENOSPC;
}

ssize_t write(int fd, const void *data, size_t n) {
  REAL(ssize_t, write, int, const void *, size_t);
  const int fails = fd_is_below(fd) ? hit_of(kWrite) : 0;
  if (fails == 2) return write_half(fd, data, n);
  return fails ? -1 : real(fd, data, n);
}
#define PWRITE(name, type)                                          \
  ssize_t name(int fd, const void *data, size_t n, type offset) {   \
    REAL(ssize_t, name, int, const void *, size_t, type);           \
    const int fails = fd_is_below(fd) ? hit_of(kWrite) : 0;            \
    if (fails == 2) return write_half(fd, data, n);                 \
    return fails ? -1 : real(fd, data, n, offset);                  \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

/* What the buffer takes is nothing of the disk's, but it may be full just then. */
size_t fwrite(const void *data, size_t size, size_t n, FILE *file) {
  REAL(size_t, fwrite, const void *, size_t, size_t, FILE *);
  if (mode != kNothing && fd_is_below(fileno(file)) && hit_of(kMake)) return 0;
  return real(data, size, n, file);
}
int fflush(FILE *file) {
  REAL(int, fflush, FILE *);
  const int fails = file && fd_is_below(fileno(file)) ? hit_of(kWrite) : 0;
  if (fails == 2) write_half_of_buffer(file);
  return fails ? EOF : real(file);
}
int fclose(FILE *file) {
  REAL(int, fclose, FILE *);
  const int writes = mode != kNothing && __fwriting(file) && fd_is_below(fileno(file));
  const int fails = writes ? hit_of(kWrite) : 0;
  if (!fails) return real(file);
  if (fails == 2) write_half_of_buffer(file);
  real(file);
  errno = ENOSPC;
  return EOF;
}
