// The number of usable processors, from fake Linux files, and the resulting number of threads.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/cpu_count.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

using Files = std::map<std::string, std::string>;

// Creates a directory with these files and returns its path. Tests use it in place of "/".
std::string make_root(const std::string& name, const Files& files) {
  const std::string root = temporary_folder() + "/cpus_" + name;
  for (const auto& [path, text] : files) {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }
  return root;
}

const std::string kCpu = "/sys/devices/system/cpu/";

// Returns the files of a machine with four cores of two hardware threads each. The processors of
// the first core are 0 and 4, those of the second 1 and 5, and so on.
Files machine_of_four_cores() {
  Files files = {{"/proc/self/status", "Name:\tR\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n"},
                 {kCpu + "online", "0-7\n"}};
  for (int cpu = 0; cpu < 8; ++cpu) {
    files[str_cat(kCpu, "cpu", cpu, "/topology/thread_siblings_list")] =
        str_cat(cpu % 4, ",", cpu % 4 + 4, "\n");
  }
  return files;
}

void check_count(const std::string& name, const Files& files, int logical, int physical) {
  context() = name;
  const CpuCount count = count_linux_cpus(make_root(name, files));
  CHECK_EQ(count.logical, logical);
  CHECK_EQ(count.physical, physical);
}

}  // namespace

TEST(cpu_list_has_ranges_and_numbers) {
  CHECK(parse_cpu_list("0") == std::vector<int>{0});
  CHECK(parse_cpu_list("0-3,8\n") == (std::vector<int>{0, 1, 2, 3, 8}));
  CHECK(parse_cpu_list("8,0-1,1-2") == (std::vector<int>{0, 1, 2, 8}));
  for (const char* text : {"", "\n", "a", "1-", "-1", "3-1", "1,x", "1 2", "0-99999999999"}) {
    context() = text;
    CHECK(parse_cpu_list(text).empty());
  }
}

TEST(cpu_count_has_cores_and_hardware_threads) {
  Files files = machine_of_four_cores();
  check_count("smt", files, 8, 4);
  files["/proc/self/status"] = "Cpus_allowed_list:\t0-1,4\n";  // a core (0, 4) and half a core (1)
  check_count("affinity", files, 3, 2);
  // The mask contains all possible processors, but the machine has only eight.
  files["/proc/self/status"] = "Cpus_allowed_list:\t0-127\n";
  check_count("wide_mask", files, 8, 4);
  files[kCpu + "online"] = "0-3\n";
  check_count("offline", files, 4, 4);
  check_count("nothing", {}, 0, 0);
}

TEST(cpu_count_reads_cpuinfo_without_sys) {
  std::string info;
  for (int cpu = 0; cpu < 8; ++cpu) {
    info += str_cat("processor\t: ", cpu, "\nmodel name\t: x\nphysical id\t: ", cpu / 4,
                    "\ncore id\t\t: ", cpu % 2, "\n\n");
  }
  Files files = {{"/proc/self/status", "Cpus_allowed_list:\t0-7\n"}, {"/proc/cpuinfo", info}};
  check_count("cpuinfo", files, 8, 4);
  files["/proc/self/status"] = "Cpus_allowed_list:\t0-3\n";
  check_count("cpuinfo_affinity", files, 4, 2);
  // On arm64, /proc/cpuinfo does not say which processors belong to one core.
  files["/proc/cpuinfo"] = "processor\t: 0\nBogoMIPS\t: 50\n\nprocessor\t: 1\n";
  check_count("cpuinfo_without_cores", files, 4, 4);
}

TEST(cpu_quota_of_cgroups_version_2) {
  Files files = machine_of_four_cores();
  files["/proc/self/cgroup"] = "0::/user.slice/job\n";
  files["/proc/self/mountinfo"] =
      "22 1 8:1 / / rw - ext4 /dev/sda rw\n"
      "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
  const std::string mount = "/sys/fs/cgroup";
  files[mount + "/user.slice/job/cpu.max"] = "max 100000\n";
  check_count("v2_max", files, 8, 4);
  files[mount + "/user.slice/job/cpu.max"] = "350000 100000\n";
  check_count("v2_three_and_a_half", files, 3, 3);
  files[mount + "/user.slice/cpu.max"] = "200000 100000\n";  // the quota of the parent cgroup
  check_count("v2_parent", files, 2, 2);
  files[mount + "/user.slice/cpu.max"] = "50000 100000\n";
  check_count("v2_half", files, 1, 1);
  files[mount + "/user.slice/cpu.max"] = "damaged\n";
  check_count("v2_damaged", files, 3, 3);
}

TEST(cpu_quota_of_a_container) {
  // In a container, the mount may name a cgroup path that is not the one of the process.
  Files files = machine_of_four_cores();
  files["/sys/fs/cgroup/cpu.max"] = "200000 100000\n";
  files["/proc/self/mountinfo"] =
      "30 22 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
  for (const char* path : {"/", "/docker/abc", "/docker/abc/", "/../other", "/elsewhere"}) {
    files["/proc/self/cgroup"] = str_cat("0::", path, "\n");
    check_count("container", files, 2, 2);
  }
}

TEST(cpu_quota_of_cgroups_version_1) {
  Files files = machine_of_four_cores();
  files["/proc/self/cgroup"] = "9:cpuset:/\n3:cpu,cpuacct:/job\n0::/\n";
  files["/proc/self/mountinfo"] =
      "31 23 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "32 23 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
      "33 23 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  const std::string job = "/sys/fs/cgroup/cpu,cpuacct/job/";
  files[job + "cpu.cfs_quota_us"] = "-1\n";
  files[job + "cpu.cfs_period_us"] = "100000\n";
  check_count("v1_none", files, 8, 4);
  files[job + "cpu.cfs_quota_us"] = "300000\n";
  check_count("v1_three", files, 3, 3);
  CHECK_EQ(cgroup_cpu_limit(make_root("no_cgroups", machine_of_four_cores())), 0);
}

TEST(cpu_count_of_this_machine) {
  const CpuCount count = usable_cpus();
  CHECK(count.physical >= 1);
  CHECK(count.physical <= count.logical);
}

TEST(threads_are_limited_by_cores_processors_and_the_environment) {
  const CpuCount cpus{8, 4};
  CHECK_EQ(limit_threads(8, true, cpus, 1, nullptr), 4);  // default: one per core
  CHECK_EQ(limit_threads(2, true, cpus, 1, nullptr), 2);
  CHECK_EQ(limit_threads(8, true, CpuCount{64, 32}, 1, nullptr), 8);
  CHECK_EQ(limit_threads(6, false, cpus, 1, nullptr), 6);  // option: hardware threads too
  CHECK_EQ(limit_threads(99, false, cpus, 1, nullptr), 8);
  CHECK_EQ(limit_threads(8, true, cpus, 2, nullptr), 2);  // other processes of the same launcher
  CHECK_EQ(limit_threads(8, true, cpus, 9, nullptr), 1);
  CHECK_EQ(limit_threads(6, false, cpus, 9, nullptr), 6);
  for (const bool is_default : {true, false}) {
    CHECK_EQ(limit_threads(8, is_default, cpus, 1, "3"), 3);
    CHECK_EQ(limit_threads(2, is_default, cpus, 1, "3"), 2);
    for (const char* none : {"", "0", "-1", "many"}) {
      CHECK_EQ(limit_threads(4, is_default, cpus, 1, none), 4);
    }
  }
}
