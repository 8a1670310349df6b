// Sums of several processes by MPI_Allreduce in place and by shared memory, for cluster.R. Prints
// bytes and microseconds of both (medians). The argument is the path of an MPI object.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "cluster/communicator.h"

using namespace runhooks;

namespace {

double microseconds_of(Communicator& all, std::vector<float>& values, int times) {
  const auto n = static_cast<int64_t>(values.size());
  int64_t together = 0;
  all.largest(&together, 1);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) all.add(values.data(), n, DType::kFloat32);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return took.count() / times;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int, char** argv) {
  const auto shared = mpi_communicator(argv[1]);
  setenv("RUNHOOKS_SHARED_MEMORY", "no", 1);
  const auto bare = mpi_communicator(argv[1]);
  // The second largest size: gradients of W3 (784-256-128-10).
  for (const size_t n : {2, 16, 128, 1024, 8192, 57000, 235146, 1000000}) {
    std::vector<float> values(n);
    std::vector<double> by_mpi, by_memory;
    const int times = n < 10000 ? 200 : 4;
    for (int round = 0; round < 51; ++round) {
      by_mpi.push_back(microseconds_of(*bare, values, times));
      by_memory.push_back(microseconds_of(*shared, values, times));
    }
    if (shared->is_chief()) {
      std::printf("%zu %.3f %.3f\n", 4 * n, median(by_mpi), median(by_memory));
    }
  }
  shared->finish();
}
