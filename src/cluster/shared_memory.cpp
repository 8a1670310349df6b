#include "cluster/shared_memory.h"

#ifdef __linux__
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/machine.h"
#include "base/platform.h"
#include "base/random.h"
#include "base/status.h"
#endif

namespace runhooks {

#if defined(__linux__) && defined(MFD_CLOEXEC)

namespace {

// The information that other processes need to map the memory. `marker` is a random value at the
// end of the memory. It detects a process in another container that has the same process id.
struct MemoryLocation {
  int64_t process = 0, file = -1, size = 0;
  uint64_t marker = 0;
};

void* map_file(int file, int64_t size) {
  void* bytes = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_POPULATE, file, 0);
  return bytes == MAP_FAILED ? nullptr : bytes;
}

uint64_t& end_marker(void* bytes, int64_t size) {
  return *reinterpret_cast<uint64_t*>(static_cast<char*>(bytes) + size - sizeof(uint64_t));
}

// Allocates all pages at once, because a page that cannot be allocated later would raise SIGBUS.
void* create_memory(MemoryLocation& location) {
  if (!feature_enabled(SystemFeature::kMemfd)) return nullptr;
  location.file = memfd_create("runhooks", MFD_CLOEXEC);
  if (location.file < 0) return nullptr;
  const auto file = static_cast<int>(location.file);
  if (posix_fallocate(file, 0, location.size) != 0) return nullptr;
  void* bytes = map_file(file, location.size);
  location.marker = random_device_u64();
  if (bytes) end_marker(bytes, location.size) = location.marker;
  return bytes;
}

void* attach_memory(const MemoryLocation& location) {
  if (!feature_enabled(SystemFeature::kMemfd)) return nullptr;
  const std::string path =
      str_cat("/proc/", location.process, "/fd/", location.file);        // lint: allow path
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);  // lint: allow file
  if (file < 0) return nullptr;
  struct stat status;
  void* bytes = nullptr;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == location.size) {
    bytes = map_file(file, location.size);
  }
  close(file);
  if (bytes && end_marker(bytes, location.size) != location.marker) {
    munmap(bytes, static_cast<size_t>(location.size));
    bytes = nullptr;
  }
  return bytes;
}

}  // namespace

SharedMemory::~SharedMemory() { munmap(bytes_, size_); }

std::unique_ptr<SharedMemory> shared_memory(Communicator& comm, int64_t size) {
  MemoryLocation location;
  location.process = process_id();
  location.size = size + static_cast<int64_t>(sizeof(uint64_t));
  void* bytes = comm.is_chief() ? create_memory(location) : nullptr;
  comm.broadcast(&location, sizeof location, 0);
  if (!comm.is_chief() && location.file >= 0) bytes = attach_memory(location);
  std::unique_ptr<SharedMemory> memory;
  if (bytes) memory = std::make_unique<SharedMemory>(bytes, static_cast<size_t>(location.size));
  int64_t is_missing = !memory;
  comm.largest(&is_missing, 1);
  if (comm.is_chief() && location.file >= 0) close(static_cast<int>(location.file));
  if (is_missing) memory.reset();
  return memory;
}

#else

SharedMemory::~SharedMemory() = default;
std::unique_ptr<SharedMemory> shared_memory(Communicator&, int64_t) { return nullptr; }

#endif

}  // namespace runhooks
