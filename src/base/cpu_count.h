// Number of processors and cores that this process may use.
#pragma once

#include <string>
#include <vector>

namespace runhooks {

struct CpuCount {
  int logical = 1;   // hardware threads
  int physical = 1;  // cores
};

// Both counts respect the CPU affinity of the process and the CPU quotas of its cgroups.
CpuCount usable_cpus();

// Limits the requested number of threads. A value set by the user may use all logical processors. A
// default uses one thread per core and divides the cores among the `processes` that a launcher
// started on this machine. `omp_thread_limit` is the value of that environment variable, or null.
int limit_threads(int requested,
                  bool is_default,
                  const CpuCount& cpus,
                  int processes,
                  const char* omp_thread_limit);
// Returns how many processes Open MPI or MPICH started on this machine; 1 without such a launcher.
int local_processes();

// Reads the counts from Linux system files below `root` ("" for this machine). Zeros if unknown.
CpuCount count_linux_cpus(const std::string& root);
// Parses a Linux CPU list such as "0-3,8". Returns an empty vector for malformed text.
std::vector<int> parse_cpu_list(const std::string& text);
// Returns the smallest CPU quota of all cgroups that contain this process, in whole processors; 0
// without a quota.
int cgroup_cpu_limit(const std::string& root);

}  // namespace runhooks
