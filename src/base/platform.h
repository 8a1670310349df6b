// The system's optional features, which of them this process may use, and how to switch them off.
#pragma once

#include <cstdint>
#include <string>

namespace runhooks {

// Each feature has a portable fallback next to its use. `RUNHOOKS_DISABLE=exchange,mmap` in the
// environment makes the process behave like a system without these features, and
// `RUNHOOKS_DISABLE=all` like one without any, so that every fallback can be tested on one machine:
//
//   name           feature                                        fallback
//   exchange       two names change places in one step            two renames
//   file_locks     the kernel's locks on files                    a file that names its owner
//   ofd_locks      locks of open file descriptions (F_OFD_SETLK)  flock()
//   hard_links     several names of one file                      a copy
//   fallocate      space for large writes is reserved early       the file grows while it is written
//   memfd          memory shared by the processes of a machine    messages by MPI
//   mmap           anonymous mappings for variables               malloc()
//   hugepages      huge pages                                     ordinary pages
//   cgroups        the memory limit of a container                the memory of the machine
//   cycle_counter  the processor's own counter                    the system's clock
//   crc32          instructions for CRC-32C                       tables
enum class SystemFeature {
  kExchange,
  kFileLocks,
  kOfdLocks,
  kHardLinks,
  kFallocate,
  kMemfd,
  kMmap,
  kHugePages,
  kCgroups,
  kCycleCounter,
  kCrc32,
};

bool feature_enabled(SystemFeature feature);

// While one lives, the process also lacks the features of this comma-separated list. Values that
// were computed from a feature before, such as the choice of a counter, stay as they are.
class DisabledFeatures {
 public:
  explicit DisabledFeatures(const std::string& names);
  ~DisabledFeatures();
  DisabledFeatures(const DisabledFeatures&) = delete;
  DisabledFeatures& operator=(const DisabledFeatures&) = delete;

 private:
  uint32_t before_;
};

// Throws kInvalidArgument if RUNHOOKS_DISABLE names an unknown feature.
void check_disabled_features();

}  // namespace runhooks
