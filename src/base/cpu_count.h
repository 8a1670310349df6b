// How many processors and cores this process may use.
#pragma once

#include <string>
#include <vector>

namespace runhooks {

struct CpuCount {
  int logical = 1;   // hardware threads
  int physical = 1;  // cores
};

// Both counts are limited by the affinity of the process and by the CPU quota of its cgroups.
CpuCount usable_cpus();

// How many threads to use of `wanted`. A number that the user has set may use all processors. A
// default uses one thread for each core, and shares the cores with the other `processes` that a
// launcher has started on this machine. `limit` is the text of OMP_THREAD_LIMIT, or null.
int limit_threads(
    int wanted, bool is_default, const CpuCount& cpus, int processes, const char* limit);
// The number of processes that Open MPI or MPICH has started on this machine; 1 without them.
int local_processes();

// The counts by the files of Linux below `root`, "" for this machine. Zeros if they tell nothing.
CpuCount count_linux_cpus(const std::string& root);
// The numbers in a list as Linux prints it: "0-3,8". What is no such list has none.
std::vector<int> parse_cpu_list(const std::string& text);
// The whole processors that the CPU quotas of all enclosing cgroups allow; 0 without a quota.
int cgroup_cpu_limit(const std::string& root);

}  // namespace runhooks
