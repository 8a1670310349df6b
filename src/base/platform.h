// Optional features of the system, and how to disable them.
#pragma once

#include <cstdint>
#include <string>

namespace runhooks {

// Each feature has a portable fallback next to its use. The environment variable
// `RUNHOOKS_DISABLE=exchange,mmap` makes the process behave as if the system lacked these features,
// `RUNHOOKS_DISABLE=all` as if it lacked all. So every fallback can be tested on one machine:
//
//   name           feature                                        fallback
//   exchange       atomic exchange of two names                   two renames
//   replace_open   replacing a file that is open                  the open file is renamed first
//   file_locks     kernel locks on files                          a file that names its owner
//   ofd_locks      locks of open file descriptions (F_OFD_SETLK)  flock()
//   hard_links     several names for one file                     a copy
//   pread          reads at a position by several threads         one thread at a time
//   fallocate      preallocation for large writes                 the file grows with each write
//   memfd          memory shared by processes of one machine      MPI messages
//   mmap           anonymous mappings for variables               malloc()
//   hugepages      huge pages                                     ordinary pages
//   cgroups        memory limit of a container                    memory of the machine
//   cycle_counter  CPU cycle counter                              system clock
//   crc32          CRC-32C instructions                           tables
//   vectors        16-byte instructions that split CSV files      byte by byte
enum class SystemFeature {
  kExchange,
  kReplaceOpen,
  kFileLocks,
  kOfdLocks,
  kHardLinks,
  kPread,
  kFallocate,
  kMemfd,
  kMmap,
  kHugePages,
  kCgroups,
  kCycleCounter,
  kCrc32,
  kVectors,
};

bool feature_enabled(SystemFeature feature);

// Inside this scope, the process behaves as if it also lacked the features in `names`, a list with
// commas. Decisions made before, such as the choice of a counter, remain in effect.
class DisabledFeatures {
 public:
  explicit DisabledFeatures(const std::string& names);
  ~DisabledFeatures();
  DisabledFeatures(const DisabledFeatures&) = delete;
  DisabledFeatures& operator=(const DisabledFeatures&) = delete;

 private:
  uint32_t previous_;
};

// Throws kInvalidArgument if RUNHOOKS_DISABLE names an unknown feature.
void check_disabled_features();

}  // namespace runhooks
