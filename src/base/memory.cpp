#include "base/memory.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>

#include "base/platform.h"
#include "base/windows.h"

#ifndef _WIN32
#include <unistd.h>
#endif

namespace runhooks {

namespace {

std::atomic<uint64_t> reserved_bytes{0};

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();

#ifdef _WIN32
uint64_t physical_memory() {
  MEMORYSTATUSEX status;
  status.dwLength = sizeof status;
  return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : kUnknown;
}
uint64_t container_memory_limit() { return kUnknown; }
#else
uint64_t physical_memory() {
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
  const auto pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  if (pages > 0 && size > 0) return static_cast<uint64_t>(pages) * static_cast<uint64_t>(size);
#endif
  return kUnknown;
}

// Reads a number; other text, such as "max", means no limit.
uint64_t read_number(const char* path) {
  std::FILE* file = std::fopen(path, "r");  // lint: allow file (a pseudo file of the kernel)
  if (!file) return kUnknown;
  unsigned long long number = 0;  // NOLINT: fscanf's type
  const bool is_number = std::fscanf(file, "%llu", &number) == 1;
  std::fclose(file);
  return is_number ? number : kUnknown;
}

uint64_t container_memory_limit() {
  if (!feature_enabled(SystemFeature::kCgroups)) return kUnknown;
  return std::min(read_number("/sys/fs/cgroup/memory.max"),
                  read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
}
#endif

std::atomic<uint64_t>& limit() {
  static std::atomic<uint64_t> bytes{std::min(physical_memory(), container_memory_limit())};
  return bytes;
}

}  // namespace

uint64_t memory_limit() { return limit(); }

uint64_t set_memory_limit(uint64_t bytes) { return limit().exchange(bytes); }

bool reserve_memory(uint64_t bytes) {
  const uint64_t before = reserved_bytes.fetch_add(bytes, std::memory_order_relaxed);
  const uint64_t limit = memory_limit();
  if (bytes <= limit && before <= limit - bytes) return true;
  release_memory(bytes);
  return false;
}

void release_memory(uint64_t bytes) { reserved_bytes.fetch_sub(bytes, std::memory_order_relaxed); }

uint64_t reserved_memory() { return reserved_bytes.load(std::memory_order_relaxed); }

}  // namespace runhooks
