// Nanoseconds of the bias and column-sum kernels, compared with plain loops at -O2. Build from the
// root:
//   g++ -std=c++17 -O2 -pthread -Isrc bench/dense.cpp src/kernels/*.cpp src/base/thread_pool.cpp
//   src/base/threads.cpp -o /tmp/bench_dense
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "kernels/kernels.h"

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename Function>
double nanoseconds(Function function) {
  double best = 1e9;
  const double begin = now();
  for (int round = 0; round < 20 || now() - begin < 0.3; ++round) {
    const double start = now();
    int count = 0;
    do {
      function();
      ++count;
    } while (now() - start < 2e-4);
    best = std::min(best, (now() - start) / count);
  }
  return best * 1e9;
}

__attribute__((noinline)) void plain_bias(
    int64_t rows, int64_t cols, const float* x, const float* bias, float* out) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) out[i * cols + j] = x[i * cols + j] + bias[j];
  }
}

__attribute__((noinline)) void plain_sums(int64_t rows, int64_t cols, const float* x, float* out) {
  for (int64_t j = 0; j < cols; ++j) out[j] = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) out[j] += x[i * cols + j];
  }
}

}  // namespace

int main() {
  std::printf("%-7s %12s %12s %12s\n", "", "rows x cols", "bias ns", "sums ns");
  const int64_t shapes[][2] = {{8, 1}, {8, 10}, {32, 10}, {128, 256}, {256, 50}, {1024, 1024}};
  for (const auto& [rows, cols] : shapes) {
    const std::string size = std::to_string(rows) + "x" + std::to_string(cols);
    std::vector<float> x(static_cast<size_t>(rows * cols), 0.5f), out(x.size());
    std::vector<float> bias(static_cast<size_t>(cols), 0.25f), sums(bias.size());
    auto report = [&](const char* who, double of_bias, double of_sums) {
      std::printf("%-7s %12s %12.1f %12.1f\n", who, size.c_str(), of_bias, of_sums);
    };
    report("plain", nanoseconds([&] { plain_bias(rows, cols, x.data(), bias.data(), out.data()); }),
           nanoseconds([&] { plain_sums(rows, cols, x.data(), sums.data()); }));
    for (const char* isa : {"base", "avx2", "avx512"}) {
      const runhooks::Kernels* table = runhooks::find_kernels(isa);
      if (!table) continue;
      const runhooks::DenseKernels& dense = *table->dense;
      report(
          isa, nanoseconds([&] {
            dense.of_float.add_bias(rows, cols, x.data(), bias.data(), out.data(), 1);
          }),
          nanoseconds([&] { dense.of_float.column_sums(rows, cols, x.data(), sums.data(), 1); }));
    }
  }
}
