#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>

#include "kernels/instruction_sets.h"
#include "kernels/kernels.h"
#include "test.h"

using namespace runhooks;
using runhooks_test::context;

namespace runhooks {
extern const GemmKernels gemm_wide;
}

namespace {

// Set RUNHOOKS_TEST_SEED to repeat a run. Failing checks print the seed.
unsigned seed() {
  static const unsigned value = [] {
    const char* seed_text = std::getenv("RUNHOOKS_TEST_SEED");
    return seed_text ? static_cast<unsigned>(std::strtoul(seed_text, nullptr, 10))
                     : std::random_device{}();
  }();
  return value;
}

std::vector<Kernels> all_kernels() {
  std::vector<Kernels> all;
  for (const char* isa : {"base", "avx2", "avx512"}) {
    if (const Kernels* table = find_kernels(isa)) all.push_back(*table);
  }
  return all;
}

std::vector<Kernels> all_gemms() {
  std::vector<Kernels> all = all_kernels();
  all.push_back({"wide", &gemm_wide, nullptr, nullptr, nullptr, nullptr});
  return all;
}

template <typename T>
auto gemm_of(const Kernels& table) {
  return table.gemm->of<T>().product;
}

struct Shape {
  bool trans_a, trans_b;
  int64_t m, n, k;
};

template <typename T>
struct Matrices {
  std::vector<T> a, b;
  const Shape shape;

  double a_at(int64_t i, int64_t p) const {
    return a[static_cast<size_t>(shape.trans_a ? p * shape.m + i : i * shape.k + p)];
  }
  double b_at(int64_t p, int64_t j) const {
    return b[static_cast<size_t>(shape.trans_b ? j * shape.k + p : p * shape.n + j)];
  }
};

// Draws integers of at most 3, whose sums are exact in float, or random numbers.
template <typename T>
Matrices<T> matrices(const Shape& shape, bool are_integers, std::mt19937& random) {
  Matrices<T> x{{}, {}, shape};
  x.a.resize(static_cast<size_t>(shape.m * shape.k));
  x.b.resize(static_cast<size_t>(shape.k * shape.n));
  std::uniform_real_distribution<double> any(-1, 1);
  for (std::vector<T>* values : {&x.a, &x.b}) {
    for (T& value : *values) {
      value = are_integers ? static_cast<T>(static_cast<int>(random() % 7) - 3)
                           : static_cast<T>(any(random));
    }
  }
  return x;
}

void describe(const Kernels& table, const Shape& shape, bool accumulate, bool is_double) {
  context() = str_cat(table.isa, is_double ? " double " : " float ", shape.trans_a ? "T" : "N",
                      shape.trans_b ? "T" : "N", " m=", shape.m, " n=", shape.n, " k=", shape.k,
                      accumulate ? " accumulate" : "", "; RUNHOOKS_TEST_SEED=", seed());
}

constexpr int kGuard = 16;  // numbers around c that must not be overwritten

// Checks that the product equals that of a naive loop exactly: in `samples` elements, or in all
// elements if `samples` is 0.
template <typename T>
void check_product(const Kernels& table,
                   const Shape& shape,
                   bool accumulate,
                   int threads,
                   int samples,
                   std::mt19937& random) {
  describe(table, shape, accumulate, sizeof(T) == sizeof(double));
  const Matrices<T> x = matrices<T>(shape, true, random);
  // Without accumulation, the kernel must not read the old values.
  std::vector<T> c(static_cast<size_t>(shape.m * shape.n + 2 * kGuard),
                   accumulate ? T(5) : static_cast<T>(NAN));
  for (size_t i = 0; i < kGuard; ++i) c[i] = c[c.size() - 1 - i] = T(77);
  gemm_of<T>(table)(shape.trans_a, shape.trans_b, shape.m, shape.n, shape.k, x.a.data(), x.b.data(),
                    c.data() + kGuard, accumulate, threads);
  for (size_t i = 0; i < kGuard; ++i) CHECK(c[i] == T(77) && c[c.size() - 1 - i] == T(77));
  const int64_t count = shape.m * shape.n;
  for (int64_t at = 0; at < (samples ? samples : count); ++at) {
    // Checks elements of the last rows and columns more often than others.
    int64_t i = at / shape.n, j = at % shape.n;
    if (samples) {
      i = at % 3 ? static_cast<int64_t>(random()) % shape.m
                 : shape.m - 1 - at % std::min<int64_t>(7, shape.m);
      j = at % 2 ? static_cast<int64_t>(random()) % shape.n
                 : shape.n - 1 - at % std::min<int64_t>(11, shape.n);
    }
    double expected = accumulate ? 5 : 0;
    for (int64_t p = 0; p < shape.k; ++p) expected += x.a_at(i, p) * x.b_at(p, j);
    CHECK_EQ(static_cast<double>(c[static_cast<size_t>(kGuard + i * shape.n + j)]), expected);
  }
}

void check_both(const Kernels& table, const Shape& shape, bool accumulate, std::mt19937& random) {
  check_product<float>(table, shape, accumulate, 1, 0, random);
  check_product<double>(table, shape, accumulate, 1, 0, random);
}

const Shape kLargeShapes[] = {
    {false, false, 197, 643, 533}, {true, false, 1025, 97, 701},  {false, true, 400, 2100, 90},
    {true, true, 211, 577, 557},   {false, false, 193, 65, 5400}, {false, true, 192, 2050, 600},
    {false, false, 130, 260, 785}, {true, false, 784, 256, 33},   {false, true, 9, 1500, 400},
    {false, false, 3001, 10, 100}, {true, true, 1000, 17, 1000},  {false, false, 16, 4000, 100},
};

const Shape kThreadShapes[] = {
    {false, false, 256, 128, 128},  {true, false, 784, 256, 128}, {false, true, 128, 784, 256},
    {false, false, 50, 50, 2000},   {false, true, 1003, 9, 701},  {true, true, 17, 3001, 150},
    {false, false, 250, 1100, 250}, {true, false, 333, 300, 700}, {false, true, 400, 401, 420},
    {false, false, 2049, 1, 1200},  {true, false, 120001, 1, 19}, {false, true, 1, 1501, 1600},
    {true, false, 1, 150001, 15},   {false, false, 3000, 700, 1},
};

}  // namespace

TEST(kernel_gemm_is_exact_for_every_edge) {
  std::mt19937 random(seed());
  auto any = [&] { return 1 + static_cast<int64_t>(random() % 40); };
  for (const Kernels& table : all_gemms()) {
    for (int64_t size = 1; size <= 40; ++size) {
      for (int place = 0; place < 3; ++place) {
        for (int kind = 0; kind < 8; ++kind) {
          Shape shape = {(kind & 1) > 0, (kind & 2) > 0, any(), any(), any()};
          (place == 0 ? shape.m : place == 1 ? shape.n : shape.k) = size;
          check_both(table, shape, (kind & 4) > 0, random);
        }
      }
    }
  }
}

TEST(kernel_gemm_is_exact_for_every_corner) {
  std::mt19937 random(seed() + 1);
  for (const Kernels& table : all_gemms()) {
    for (int64_t m = 1; m <= 40; ++m) {
      for (int64_t n = 1; n <= 40; ++n) {
        const unsigned kind = static_cast<unsigned>(random());
        const Shape shape = {(kind & 1) > 0, (kind & 2) > 0, m, n, 1 + kind / 8 % 12};
        check_both(table, shape, (kind & 4) > 0, random);
      }
    }
  }
}

TEST(kernel_gemm_is_exact_for_large_shapes) {
  std::mt19937 random(seed() + 2);
  for (const Kernels& table : all_gemms()) {
    for (const Shape& shape : kLargeShapes) {
      for (const bool accumulate : {false, true}) {
        const int threads = 1 + static_cast<int>(random() % 3);
        check_product<float>(table, shape, accumulate, threads, 60, random);
        check_product<double>(table, shape, accumulate, threads, 60, random);
      }
    }
  }
}

TEST(kernel_gemm_is_exact_for_vectors) {
  std::mt19937 random(seed() + 3);
  for (const Kernels& table : all_gemms()) {
    for (int64_t length : {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 1000, 4099}) {
      for (int kind = 0; kind < 8; ++kind) {
        const bool trans_a = kind & 1, trans_b = kind & 2, accumulate = kind & 4;
        const int64_t other = 1 + static_cast<int64_t>(random() % 37);
        check_both(table, {trans_a, trans_b, other, 1, length}, accumulate, random);
        check_both(table, {trans_a, trans_b, length, 1, other}, accumulate, random);
        check_both(table, {trans_a, trans_b, 1, other, length}, accumulate, random);
        check_both(table, {trans_a, trans_b, 1, length, other}, accumulate, random);
        check_both(table, {trans_a, trans_b, other, length, 1}, accumulate, random);
      }
    }
  }
}

TEST(kernel_gemm_with_nothing_to_sum_gives_zero) {
  for (const Kernels& table : all_gemms()) {
    std::vector<float> c(6, 3.0f);
    table.gemm->of_float.product(false, false, 2, 3, 0, nullptr, nullptr, c.data(), true, 2);
    CHECK_EQ(c[5], 3.0f);
    table.gemm->of_float.product(false, false, 0, 3, 4, nullptr, nullptr, c.data(), false, 2);
    table.gemm->of_float.product(false, false, 2, 0, 4, nullptr, nullptr, c.data(), false, 2);
    CHECK_EQ(c[5], 3.0f);
    table.gemm->of_float.product(false, true, 2, 3, 0, nullptr, nullptr, c.data(), false, 2);
    for (float value : c) CHECK_EQ(value, 0.0f);
  }
}

template <typename T>
void check_threads(const Kernels& table, const Shape& shape, std::mt19937& random) {
  describe(table, shape, false, sizeof(T) == sizeof(double));
  const Matrices<T> x = matrices<T>(shape, false, random);
  std::vector<T> one_thread(static_cast<size_t>(shape.m * shape.n)),
      many_threads(one_thread.size());
  auto run = [&](std::vector<T>& c, int threads) {
    gemm_of<T>(table)(shape.trans_a, shape.trans_b, shape.m, shape.n, shape.k, x.a.data(),
                      x.b.data(), c.data(), false, threads);
  };
  run(one_thread, 1);
  for (int threads : {2, 3}) {
    run(many_threads, threads);
    CHECK(std::memcmp(one_thread.data(), many_threads.data(), one_thread.size() * sizeof(T)) == 0);
  }
  // Multiplies random numbers. The difference from the sum in double must be within the rounding
  // error.
  const double epsilon = std::numeric_limits<T>::epsilon();
  for (int sample = 0; sample < 40; ++sample) {
    const int64_t i = static_cast<int64_t>(random()) % shape.m;
    const int64_t j = static_cast<int64_t>(random()) % shape.n;
    double expected = 0, size = 0;
    for (int64_t p = 0; p < shape.k; ++p) {
      expected += x.a_at(i, p) * x.b_at(p, j);
      size += std::fabs(x.a_at(i, p) * x.b_at(p, j));
    }
    CHECK_NEAR(static_cast<double>(one_thread[static_cast<size_t>(i * shape.n + j)]), expected,
               epsilon * size * (1 + std::sqrt(static_cast<double>(shape.k))));
  }
}

TEST(kernel_gemm_gives_the_same_bits_for_any_number_of_threads) {
  std::mt19937 random(seed() + 4);
  for (const Kernels& table : all_gemms()) {
    for (const Shape& shape : kThreadShapes) {
      check_threads<float>(table, shape, random);
      check_threads<double>(table, shape, random);
    }
  }
}

template <typename T>
void check_dense(const Kernels& table, int64_t rows, int64_t cols, std::mt19937& random) {
  context() = str_cat(table.isa, " ", rows, " x ", cols, "; RUNHOOKS_TEST_SEED=", seed());
  auto add_bias = [&](const T* x, const T* bias, T* out, int threads) {
    table.dense->of<T>().add_bias(rows, cols, x, bias, out, threads);
  };
  auto column_sums = [&](const T* x, T* out, int threads) {
    table.dense->of<T>().column_sums(rows, cols, x, out, threads);
  };
  std::vector<T> x(static_cast<size_t>(rows * cols)), bias(static_cast<size_t>(cols)),
      out(x.size());
  for (T& value : x) value = static_cast<T>(static_cast<int>(random() % 7) - 3);
  for (T& value : bias) value = static_cast<T>(random() % 9);
  add_bias(x.data(), bias.data(), out.data(), 1);
  for (size_t i = 0; i < x.size(); ++i) {
    CHECK_EQ(out[i], x[i] + bias[i % static_cast<size_t>(cols)]);
  }
  std::vector<T> same = x;
  add_bias(same.data(), bias.data(), same.data(), 2);
  CHECK(same == out);

  std::vector<T> sums(bias.size(), T(9)), expected(bias.size(), T(0));
  for (size_t i = 0; i < x.size(); ++i) expected[i % expected.size()] += x[i];
  column_sums(x.data(), sums.data(), 1);
  CHECK(sums == expected);
  for (T& value : x) value = value * T(0.1) + T(1e-3);
  std::vector<T> other(sums.size());
  column_sums(x.data(), sums.data(), 1);
  column_sums(x.data(), other.data(), 3);
  CHECK(std::memcmp(sums.data(), other.data(), sums.size() * sizeof(T)) == 0);
}

TEST(kernel_bias_and_column_sums_are_exact) {
  std::mt19937 random(seed() + 5);
  for (const Kernels& table : all_kernels()) {
    for (int64_t size = 1; size <= 40; ++size) {
      check_dense<float>(table, 1 + static_cast<int64_t>(random() % 20), size, random);
      check_dense<double>(table, 1 + static_cast<int64_t>(random() % 20), size, random);
    }
    for (auto [rows, cols] : {std::pair<int64_t, int64_t>{700, 1},
                              {1030, 67},
                              {3001, 257},
                              {2, 600001},
                              {600001, 2},
                              {30001, 16},
                              {20001, 32},
                              {20001, 48},
                              {20001, 65},
                              {1100, 1000}}) {
      check_dense<float>(table, rows, cols, random);
      check_dense<double>(table, rows, cols, random);
    }
  }
}

// The matrices have fewer columns than a vector register, so kernels use masks or single columns.
TEST(kernel_sums_of_few_columns_have_the_bits_of_single_ones) {
  std::mt19937 random(seed() + 6);
  std::uniform_real_distribution<float> draw(-1, 1);
  for (const Kernels& table : all_kernels()) {
    for (const int64_t rows : {1, 3, 32, 255, 257, 1100}) {
      for (const int64_t cols : {2, 3}) {
        std::vector<float> x(static_cast<size_t>(rows * cols)), sums(static_cast<size_t>(cols));
        for (float& value : x) value = draw(random);
        table.dense->of_float.column_sums(rows, cols, x.data(), sums.data(), 1);
        for (int64_t j = 0; j < cols; ++j) {
          std::vector<float> column;
          for (int64_t i = 0; i < rows; ++i) column.push_back(x[static_cast<size_t>(i * cols + j)]);
          float alone;
          table.dense->of_float.column_sums(rows, 1, column.data(), &alone, 1);
          CHECK_EQ(sums[static_cast<size_t>(j)], alone);
        }
      }
    }
  }
}

template <typename T>
void check_gathered(const Kernels& table, int64_t rows, int64_t n, std::mt19937& random) {
  const auto product = table.gemm->of<T>().gathered;
  std::uniform_int_distribution<int> draw(-3, 3);
  std::uniform_int_distribution<int64_t> place(0, 400), length(1, kMaxRunLength);
  std::vector<int64_t> offsets;
  std::vector<Run> runs = {{7, kMaxRunLength}, {3, 1}};
  while (static_cast<int64_t>(offsets.size()) < rows) offsets.push_back(place(random));
  while (runs.size() < 5) runs.push_back({place(random), length(random)});
  for (const int64_t stride : {1, 3}) {
    std::vector<int64_t> steps;
    for (const Run& run : runs) {
      for (int64_t i = 0; i < run.length; ++i) steps.push_back(run.offset + i * stride);
    }
    std::vector<T> a(800 + 3 * kMaxRunLength), b(steps.size() * static_cast<size_t>(n));
    for (T& x : a) x = static_cast<T>(draw(random));
    for (T& x : b) x = static_cast<T>(draw(random));
    const GatheredRows gathered = {offsets.data(), runs.data(), rows,
                                   static_cast<int64_t>(runs.size()), stride};
    std::vector<T> expected(static_cast<size_t>(rows * n), 0), c(expected.size() + 64, T(5));
    for (int64_t i = 0; i < rows; ++i) {
      for (size_t p = 0; p < steps.size(); ++p) {
        const T x = a[static_cast<size_t>(offsets[static_cast<size_t>(i)] + steps[p])];
        for (int64_t j = 0; j < n; ++j) {
          expected[static_cast<size_t>(i * n + j)] +=
              x * b[p * static_cast<size_t>(n) + static_cast<size_t>(j)];
        }
      }
    }
    for (const T times : {T(1), T(2)}) {  // the second time it accumulates
      product(gathered, n, a.data(), b.data(), c.data(), times > 1);
      for (size_t i = 0; i < expected.size(); ++i) CHECK_EQ(c[i], times * expected[i]);
      for (size_t i = expected.size(); i < c.size(); ++i) CHECK_EQ(c[i], T(5));
    }
  }
}

TEST(kernel_gathered_product_is_exact) {
  std::mt19937 random(seed());
  for (const Kernels& table : all_gemms()) {
    for (const int64_t n : {1, 3, 8, 16, 17, 32, 33, 70}) {
      for (const int64_t rows : {1, 2, 5, 8, 9, 13, 50}) {
        context() = str_cat(table.isa, " rows=", rows, " n=", n, " seed=", seed());
        check_gathered<float>(table, rows, n, random);
        check_gathered<double>(table, rows, n, random);
      }
    }
  }
}

TEST(kernel_choice_is_the_best_up_to_the_requested_one) {
  const std::vector<Kernels> all = all_kernels();
  const std::string best = all.back().isa;
  CHECK_EQ(std::string(choose_kernels(nullptr).isa), best);
  CHECK_EQ(std::string(choose_kernels("").isa), best);
  CHECK_EQ(std::string(choose_kernels("altivec").isa), best);
  CHECK_EQ(std::string(choose_kernels("base").isa), all.front().isa);
  CHECK_EQ(std::string(choose_kernels("avx512").isa), best);
  for (const Kernels& table : all) CHECK_EQ(std::string(choose_kernels(table.isa).isa), table.isa);
  CHECK(!find_kernels("altivec"));
#if defined(__aarch64__)
  CHECK_EQ(std::string(all.front().isa), "neon");
  CHECK(find_kernels("neon") == find_kernels("base"));
#else
  CHECK_EQ(std::string(all.front().isa), "base");
  CHECK(!find_kernels("neon"));
#endif
}

// Kernels are selected once per process, so the next test runs this test in other processes.
TEST(kernel_isa_of_this_process) {
  if (std::getenv("RUNHOOKS_TEST_PRINT_ISA")) std::printf("isa=%s\n", kernels().isa);
  const char* expected = std::getenv("RUNHOOKS_ISA");
  CHECK_EQ(std::string(kernels().isa), choose_kernels(expected).isa);
}

TEST(kernel_choice_reads_the_environment) {
  std::error_code missing;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", missing);
  if (missing) throw runhooks_test::NotRun{"no /proc/self/exe to start this program again"};
  // The child process needs the same emulator as this process.
  const char* runner = std::getenv("RUNHOOKS_TEST_RUNNER");
  for (const char* isa : {"base", "avx2", "avx512"}) {
    const std::string command =
        str_cat("RUNHOOKS_TEST_PRINT_ISA=1 RUNHOOKS_ISA=", isa, " ", runner ? runner : "", " '",
                self.string(), "' kernel_isa_of_this_process");
    std::string printed;
    FILE* pipe = popen(command.c_str(), "r");
    CHECK(pipe != nullptr);
    for (int c; (c = std::fgetc(pipe)) != EOF;) printed += static_cast<char>(c);
    CHECK_EQ(pclose(pipe), 0);
    CHECK(printed.find(str_cat("isa=", choose_kernels(isa).isa)) != std::string::npos);
  }
}
