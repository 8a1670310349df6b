#include "base/cpu_count.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <set>
#include <thread>

#include "base/open_file.h"
#include "base/split_text.h"
#include "base/status.h"
#include "base/windows.h"

#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace runhooks {

namespace {

constexpr int kMaxCpus = 1 << 16;  // sanity limit for numbers from files

// Returns the lines of a file; none if it cannot be read, because not all systems have these files.
std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  try {
    TextFile file(path);
    for (std::string line; file.next(&line);) lines.push_back(line);
  } catch (const Error&) {
    lines.clear();
  }
  return lines;
}

std::string first_line(const std::string& path) {
  const std::vector<std::string> lines = lines_of(path);
  return lines.empty() ? "" : lines.front();
}

std::string cpuinfo_value(const std::string& line, const std::string& key) {
  const size_t colon = line.find(':');
  if (colon == std::string::npos || line.compare(0, key.size(), key) != 0) return "";
  if (line.find_first_not_of(" \t", key.size()) != colon) return "";
  const size_t begin = line.find_first_not_of(" \t", colon + 1);
  return begin == std::string::npos ? "" : line.substr(begin);
}

int positive_number(const char* text) {
  if (!text) return 0;
  const auto number = std::strtol(text, nullptr, 10);
  return number < 1 ? 0 : static_cast<int>(std::min<decltype(number)>(number, INT_MAX));
}

// Returns the CPU quota in whole processors, at least 1; returns 0 without a quota.
int quota_in_cpus(const std::string& quota, const std::string& period) {
  const double quota_us = std::strtoll(quota.c_str(), nullptr, 10);
  const double period_us = std::strtoll(period.c_str(), nullptr, 10);
  if (quota_us <= 0 || period_us <= 0) return 0;
  return std::max(1, static_cast<int>(std::min<double>(quota_us / period_us, kMaxCpus)));
}

// Returns the smaller of two limits, where 0 means no limit.
int min_limit(int a, int b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

// Returns the quota of one cgroup; 0 if the file contains "max" or -1, which mean unlimited.
int cgroup_quota(const std::string& folder, bool is_v2) {
  if (!is_v2) {
    return quota_in_cpus(first_line(folder + "/cpu.cfs_quota_us"),
                         first_line(folder + "/cpu.cfs_period_us"));
  }
  const std::vector<std::string> fields = split_text(first_line(folder + "/cpu.max"), ' ');
  return fields.size() == 2 ? quota_in_cpus(fields[0], fields[1]) : 0;
}

// Returns the path of this process in the cgroup hierarchy of the `cpu` controller (version 1), or
// in the unified hierarchy (version 2).
std::string cgroup_path(const std::string& root, bool is_v2) {
  for (const std::string& line : lines_of(root + "/proc/self/cgroup")) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = split_text(line.substr(first + 1, second - first - 1), ',');
    const bool is_match = is_v2 ? controllers.empty() && line.compare(0, first, "0") == 0
                                : std::count(controllers.begin(), controllers.end(), "cpu") > 0;
    if (is_match) return line.substr(second + 1);
  }
  return "";
}

// Returns the part of `path` below `mounted_subtree`. If `path` is not below it, as in some
// containers, returns "": the mount point is then the cgroup of the process.
std::string path_below_mount(const std::string& path, const std::string& mounted_subtree) {
  if (path.find("..") != std::string::npos) return "";
  if (mounted_subtree == "/") return path == "/" ? "" : path;
  const bool is_below =
      path.compare(0, mounted_subtree.size(), mounted_subtree) == 0 &&
      (path.size() == mounted_subtree.size() || path[mounted_subtree.size()] == '/');
  return is_below ? path.substr(mounted_subtree.size()) : "";
}

std::vector<int> online_cpus(const std::string& root) {
  std::vector<int> allowed;
  for (const std::string& line : lines_of(root + "/proc/self/status")) {
    const std::string list = cpuinfo_value(line, "Cpus_allowed_list");
    if (!list.empty()) allowed = parse_cpu_list(list);
  }
  // The mask may contain processors that are absent or offline.
  const std::vector<int> online =
      parse_cpu_list(first_line(root + "/sys/devices/system/cpu/online"));
  if (online.empty()) return allowed;
  if (allowed.empty()) return online;
  std::vector<int> usable;
  std::set_intersection(allowed.begin(), allowed.end(), online.begin(), online.end(),
                        std::back_inserter(usable));
  return usable;
}

// Counts cores from /proc/cpuinfo, if /sys is not mounted. Falls back to the number of processors.
int cores_of_cpuinfo(const std::string& root, const std::vector<int>& cpus) {
  std::set<std::string> cores;
  std::string cpu, package;
  for (const std::string& line : lines_of(root + "/proc/cpuinfo")) {
    const std::string number = cpuinfo_value(line, "processor"),
                      id = cpuinfo_value(line, "physical id");
    const std::string core = cpuinfo_value(line, "core id");
    if (!number.empty()) cpu = number, package.clear();
    if (!id.empty()) package = id;
    if (core.empty() || cpu.empty()) continue;
    const std::vector<int> indices = parse_cpu_list(cpu);
    if (indices.size() == 1 && std::binary_search(cpus.begin(), cpus.end(), indices[0])) {
      cores.insert(str_cat(package, ":", core));
    }
  }
  return cores.empty() ? static_cast<int>(cpus.size()) : static_cast<int>(cores.size());
}

int cores_of(const std::string& root, const std::vector<int>& cpus) {
  std::set<std::string> siblings;
  for (const int cpu : cpus) {
    const std::string list = first_line(
        str_cat(root, "/sys/devices/system/cpu/cpu", cpu, "/topology/thread_siblings_list"));
    if (list.empty()) return cores_of_cpuinfo(root, cpus);
    siblings.insert(list);
  }
  return static_cast<int>(siblings.size());
}

#if defined(_WIN32)
int count_bits(ULONG_PTR mask) {
  int bits = 0;
  for (; mask; mask &= mask - 1) ++bits;
  return bits;
}

CpuCount count_system_cpus() {
  CpuCount count{0, 0};
  DWORD_PTR allowed = 0, machine = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &allowed, &machine)) return count;
  count.logical = count_bits(allowed);
  DWORD bytes = 0;
  GetLogicalProcessorInformation(nullptr, &bytes);
  std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> infos(
      bytes / sizeof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION));
  if (infos.empty() || !GetLogicalProcessorInformation(infos.data(), &bytes)) return count;
  for (const auto& info : infos) {
    const bool is_core = info.Relationship == RelationProcessorCore;
    if (is_core && (info.ProcessorMask & allowed) != 0) ++count.physical;
  }
  return count;
}
#elif defined(__APPLE__)
int sysctl_number(const char* name) {
  int value = 0;
  size_t size = sizeof value;
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}

CpuCount count_system_cpus() {
  return {sysctl_number("hw.logicalcpu"), sysctl_number("hw.physicalcpu")};
}
#else
CpuCount count_system_cpus() { return count_linux_cpus(""); }
#endif

}  // namespace

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  for (const std::string& range : split_text(text, ',')) {
    const char* at = range.c_str();
    char* end = nullptr;
    const auto first = std::strtol(at, &end, 10);
    auto last = first;
    if (end == at) return {};
    if (*end == '-') last = std::strtol(at = end + 1, &end, 10);
    if (end == at || first < 0 || last < first || last >= kMaxCpus) return {};
    if (range.find_first_not_of(" \t\r\n", static_cast<size_t>(end - range.c_str())) !=
        std::string::npos) {
      return {};
    }
    for (auto cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

int cgroup_cpu_limit(const std::string& root) {
  int limit = 0;
  for (const std::string& line : lines_of(root + "/proc/self/mountinfo")) {
    const std::vector<std::string> fields = split_text(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 6 || fields.end() - dash < 4) continue;
    const std::vector<std::string> options = split_text(dash[3], ',');
    const bool is_v2 = dash[1] == "cgroup2";
    const bool is_v1 = dash[1] == "cgroup" && std::count(options.begin(), options.end(), "cpu") > 0;
    if (!is_v2 && !is_v1) continue;
    const std::string mount = root + fields[4];
    std::string below = path_below_mount(cgroup_path(root, is_v2), fields[3]);
    for (;;) {  // visits all parents up to the mount point, because their quotas apply too
      limit = min_limit(limit, cgroup_quota(mount + below, is_v2));
      const size_t slash = below.rfind('/');
      if (slash == std::string::npos) break;
      below.erase(slash);
    }
  }
  return limit;
}

CpuCount count_linux_cpus(const std::string& root) {
  const std::vector<int> cpus = online_cpus(root);
  CpuCount count;
  count.logical = static_cast<int>(cpus.size());
  count.physical = cpus.empty() ? 0 : cores_of(root, cpus);
  const int limit = cgroup_cpu_limit(root);
  count.logical = min_limit(count.logical, limit);
  count.physical = min_limit(count.physical, limit);
  return count;
}

int limit_threads(int requested,
                  bool is_default,
                  const CpuCount& cpus,
                  int processes,
                  const char* omp_thread_limit) {
  const int maximum = is_default ? cpus.physical / std::max(1, processes) : cpus.logical;
  const int threads = std::max(1, std::min(requested, maximum));
  return min_limit(threads, positive_number(omp_thread_limit));
}

int local_processes() {
  const int open_mpi = positive_number(std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE"));
  const int mpich = positive_number(std::getenv("MPI_LOCALNRANKS"));
  return std::max({1, open_mpi, mpich});
}

CpuCount usable_cpus() {
  CpuCount count = count_system_cpus();
  const auto reported = static_cast<int>(std::thread::hardware_concurrency());
  count.logical = std::max(1, min_limit(count.logical, reported));
  count.physical = std::max(1, min_limit(count.physical, count.logical));
  return count;
}

}  // namespace runhooks
