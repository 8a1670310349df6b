// GFLOP/s of the matrix product per instruction set, shape and number of threads, compared with the
// peak of a loop in registers. Best of many tries, because of other load. Build and run from the
// root:
//   g++ -std=c++17 -O2 -fopenmp -Isrc bench/gemm.cpp src/kernels/*.cpp src/base/thread_pool.cpp
//   src/base/threads.cpp -o /tmp/bench_gemm && /tmp/bench_gemm
//   /tmp/bench_gemm avx2 784    # only this instruction set, only rows that contain the text
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/kernels.h"

#define RUNHOOKS_PEAK peak_base
#define RUNHOOKS_VECTOR_BYTES 16
#define RUNHOOKS_CHAINS 12
#include "peak.inc"
#undef RUNHOOKS_PEAK
#undef RUNHOOKS_VECTOR_BYTES
#if defined(__x86_64__)
#define RUNHOOKS_PEAK peak_avx2
#define RUNHOOKS_VECTOR_BYTES 32
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#include "peak.inc"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#undef RUNHOOKS_PEAK
#undef RUNHOOKS_VECTOR_BYTES
#define RUNHOOKS_PEAK peak_avx512
#define RUNHOOKS_VECTOR_BYTES 64
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,fma")
#endif
#include "peak.inc"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#undef RUNHOOKS_CHAINS
#endif

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Peak {
  const char* isa;
  float (*run)(long);
  double flops;  // of one round
};
const Peak peaks[] = {
    {"base", &peak_base::multiply_add, 2.0 * 12 * 4},
#if defined(__x86_64__)
    {"avx2", &peak_avx2::multiply_add, 2.0 * 12 * 8},
    {"avx512", &peak_avx512::multiply_add, 2.0 * 12 * 16},
#endif
};

volatile float sink;

double peak_gflops(const Peak& peak, int threads) {
  const long times = 100000;
  std::vector<double> took(static_cast<size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
#pragma omp barrier
    const double start = now();
    sink = peak.run(times);
    took[static_cast<size_t>(omp_get_thread_num())] = now() - start;
  }
  return peak.flops * times * threads / *std::max_element(took.begin(), took.end()) * 1e-9;
}

struct Shape {
  bool trans_a, trans_b;
  int64_t m, k, n;
  bool is_double;
};
const Shape shapes[] = {
    {false, false, 1024, 1024, 1024, false}, {true, false, 1024, 1024, 1024, false},
    {false, true, 1024, 1024, 1024, false},  {false, false, 512, 512, 512, false},
    {false, false, 128, 784, 256, false},    {true, false, 784, 128, 256, false},
    {false, true, 128, 256, 784, false},     {false, false, 256, 100, 50, false},
    {true, false, 100, 256, 50, false},      {false, true, 256, 50, 100, false},
    {false, false, 32, 784, 256, false},     {true, false, 784, 32, 256, false},
    {false, true, 32, 256, 784, false},      {false, false, 8, 784, 256, false},
    {false, false, 32, 32, 32, false},       {false, false, 32, 10, 10, false},
    {true, false, 10, 32, 10, false},        {false, true, 32, 10, 10, false},
    {false, false, 8, 10, 4, false},         {false, false, 8, 3, 1, false},
    {false, false, 8, 10, 1, false},         {true, false, 10, 8, 1, false},
    {false, true, 8, 1, 10, false},          {false, false, 128, 100, 1, false},
    {true, false, 100, 128, 1, false},       {false, false, 8, 100000, 1, false},
    {true, false, 100000, 8, 1, false},      {false, false, 1024, 1024, 1, false},
    {true, false, 1024, 1024, 1, false},     {false, false, 1024, 1024, 1024, true},
    {true, false, 512, 512, 512, true},      {false, true, 512, 512, 512, true},
    {false, false, 128, 784, 256, true},     {false, false, 8, 10, 1, true},
};

template <typename T, typename Function>
void measure(const Shape& shape, Function product, const Peak& peak, int threads) {
  std::vector<T> a(static_cast<size_t>(shape.m * shape.k)),
      b(static_cast<size_t>(shape.k * shape.n)), c(static_cast<size_t>(shape.m * shape.n));
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<T>(static_cast<double>(i % 7) * 0.25 - 0.7);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<T>(static_cast<double>(i % 5) * 0.5 - 0.9);
  const double flops = 2.0 * static_cast<double>(shape.m * shape.k * shape.n);
  const long repeats = static_cast<long>(2e7 / flops) + 1;
  double best = 0, top = 0;
  // Slow phases of a shared machine last longer than a few products.
  const double begin = now();
  for (int round = 0; round < 20 || now() - begin < 0.7; ++round) {
    top = std::max(top, peak_gflops(peak, threads) * (shape.is_double ? 0.5 : 1));
    const double start = now();
    for (long i = 0; i < repeats; ++i) {
      product(shape.trans_a, shape.trans_b, shape.m, shape.n, shape.k, a.data(), b.data(), c.data(),
              false, threads);
    }
    best = std::max(best, flops * static_cast<double>(repeats) / (now() - start) * 1e-9);
  }
  std::printf("%10.1f %7.1f %5.0f%% %12.1f\n", best, top, 100 * best / top, flops / best);
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%-7s %-6s %-2s %17s %7s %10s %7s %6s %12s\n", "isa", "type", "op", "m x k x n",
              "threads", "GFLOP/s", "peak", "", "ns");
  for (const Peak& peak : peaks) {
    const runhooks::Kernels* table = runhooks::find_kernels(peak.isa);
    if (!table ||
        (argc > 1 && std::strcmp(argv[1], peak.isa) != 0 && std::strcmp(argv[1], "all") != 0))
      continue;
    for (const Shape& shape : shapes) {
      const std::string size =
          std::to_string(shape.m) + "x" + std::to_string(shape.k) + "x" + std::to_string(shape.n);
      if (argc > 2 && !std::strstr(size.c_str(), argv[2])) continue;
      for (int threads = 1; threads <= 2; ++threads) {
        std::printf("%-7s %-6s %c%c %17s %7d ", peak.isa, shape.is_double ? "double" : "float",
                    shape.trans_a ? 'T' : 'N', shape.trans_b ? 'T' : 'N', size.c_str(), threads);
        if (shape.is_double) {
          measure<double>(shape, table->gemm->of_double.product, peak, threads);
        } else {
          measure<float>(shape, table->gemm->of_float.product, peak, threads);
        }
      }
    }
  }
}
