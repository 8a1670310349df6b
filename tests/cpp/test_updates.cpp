// Compares the update rules, for every instruction set, with plain loops in double precision.
#include <cmath>
#include <random>
#include <vector>

#include "kernels/kernels.h"
#include "test.h"

using namespace runhooks;

namespace {

std::vector<float> numbers(std::mt19937& random, size_t n, float low, float high) {
  std::uniform_real_distribution<float> draw(low, high);
  std::vector<float> x(n);
  for (float& number : x) number = draw(random);
  return x;
}

void check_close(const std::vector<float>& is, const std::vector<double>& expected) {
  for (size_t i = 0; i < is.size(); ++i) {
    CHECK(std::abs(is[i] - expected[i]) <= 2e-5 * (1 + std::abs(expected[i])));
  }
}

void check_ftrl(const Kernels& table, size_t n, const FtrlRates& r, std::mt19937& random) {
  std::vector<float> var = numbers(random, n, -1, 1), accum = numbers(random, n, 0.1f, 2),
                     linear = numbers(random, n, -2, 2), grad = numbers(random, n, -1, 1);
  std::vector<double> var_expected, accum_expected, linear_expected;
  for (size_t i = 0; i < n; ++i) {
    const double w = var[i], g = grad[i], a = accum[i] + g * g;
    const double z = linear[i] + g + 2.0 * r.l2_shrinkage * w -
                     (std::sqrt(a) - std::sqrt(double{accum[i]})) / r.lr * w;
    const double excess = std::abs(z) - r.l1;
    accum_expected.push_back(a);
    linear_expected.push_back(z);
    var_expected.push_back(
        excess > 0 ? -std::copysign(excess, z) / (std::sqrt(a) / r.lr + 2.0 * r.l2) : 0);
  }
  table.updates->sftrl(static_cast<int64_t>(n), &r, var.data(), accum.data(), linear.data(),
                       grad.data());
  check_close(var, var_expected);
  check_close(accum, accum_expected);
  check_close(linear, linear_expected);
}

void check_adagrad(const Kernels& table, size_t n, std::mt19937& random) {
  std::vector<float> var = numbers(random, n, -1, 1), accum = numbers(random, n, 0.1f, 2),
                     grad = numbers(random, n, -1, 1);
  std::vector<double> var_expected, accum_expected;
  for (size_t i = 0; i < n; ++i) {
    const double g = grad[i];
    accum_expected.push_back(accum[i] + g * g);
    var_expected.push_back(var[i] - g * 0.05 / std::sqrt(accum_expected[i]));
  }
  table.updates->sadagrad(static_cast<int64_t>(n), 0.05f, var.data(), accum.data(), grad.data());
  check_close(var, var_expected);
  check_close(accum, accum_expected);
}

void check_adam(const Kernels& table, size_t n, const AdamRates& r, std::mt19937& random) {
  std::vector<float> var = numbers(random, n, -1, 1), m = numbers(random, n, -1, 1),
                     v = numbers(random, n, 0, 2), grad = numbers(random, n, -1, 1);
  std::vector<double> var_expected, m_expected, v_expected;
  for (size_t i = 0; i < n; ++i) {
    const double g = grad[i];
    m_expected.push_back(m[i] + (g - m[i]) * r.one_minus_beta1);
    v_expected.push_back(v[i] + (g * g - v[i]) * r.one_minus_beta2);
    var_expected.push_back(var[i] -
                           r.step * m_expected[i] / (std::sqrt(v_expected[i]) + r.epsilon));
  }
  table.updates->sadam(static_cast<int64_t>(n), &r, var.data(), m.data(), v.data(), grad.data());
  check_close(var, var_expected);
  check_close(m, m_expected);
  check_close(v, v_expected);
}

}  // namespace

TEST(updates_of_every_instruction_set) {
  std::mt19937 random(7);
  for (const char* isa : {"base", "avx2", "avx512"}) {
    const Kernels* table = find_kernels(isa);
    if (!table) continue;
    for (const size_t n : {0, 1, 3, 15, 16, 17, 100}) {
      check_ftrl(*table, n, {0.05f, 0, 0, 0}, random);
      check_ftrl(*table, n, {0.2f, 0.7f, 0.1f, 0.3f}, random);
      check_adagrad(*table, n, random);
      check_adam(*table, n, {0.01f, 0.1f, 0.001f, 1e-8f}, random);
      check_adam(*table, n, {0.5f, 0.7f, 0.9f, 0.1f}, random);
    }
  }
}

// The update of a number has the same bits alone, within a vector register, and in the remainder.
TEST(updates_of_one_number_and_of_many_have_the_same_bits) {
  std::mt19937 random(8);
  const FtrlRates ftrl = {0.2f, 0.7f, 0.1f, 0.3f};
  const AdamRates adam = {0.5f, 0.7f, 0.9f, 0.1f};
  for (const char* isa : {"base", "avx2", "avx512"}) {
    const Kernels* table = find_kernels(isa);
    if (!table) continue;
    const UpdateKernels& updates = *table->updates;
    for (const size_t n : {2, 3, 17, 40}) {
      const std::vector<float> grad = numbers(random, n, -1, 1);
      std::vector<float> x = numbers(random, n, -1, 1), a = numbers(random, n, 0.1f, 2),
                         z = numbers(random, n, -2, 2);
      std::vector<float> x1 = x, a1 = a, z1 = z;
      const auto all = static_cast<int64_t>(n);
      updates.sftrl(all, &ftrl, x.data(), a.data(), z.data(), grad.data());
      updates.sadagrad(all, 0.05f, x.data(), a.data(), grad.data());
      updates.sadam(all, &adam, x.data(), z.data(), a.data(), grad.data());
      for (size_t i = 0; i < n; ++i) {
        updates.sftrl(1, &ftrl, &x1[i], &a1[i], &z1[i], &grad[i]);
        updates.sadagrad(1, 0.05f, &x1[i], &a1[i], &grad[i]);
        updates.sadam(1, &adam, &x1[i], &z1[i], &a1[i], &grad[i]);
      }
      CHECK(x == x1);
      CHECK(a == a1);
      CHECK(z == z1);
    }
  }
}

// Values within l1 of 0 become 0, and no element outside the range is written.
TEST(updates_shrink_and_stay_in_range) {
  for (const char* isa : {"base", "avx2", "avx512"}) {
    const Kernels* table = find_kernels(isa);
    if (!table) continue;
    std::vector<float> var(20, 5), accum(20, 1), linear(20, 0.5f), grad(20, 0);
    const FtrlRates rates = {0.1f, 0.5f, 0, 0};
    table->updates->sftrl(18, &rates, var.data(), accum.data(), linear.data(), grad.data());
    for (size_t i = 0; i < 18; ++i) CHECK_EQ(var[i], 0.0f);
    for (size_t i = 18; i < 20; ++i) CHECK_EQ(var[i], 5.0f);
  }
}
