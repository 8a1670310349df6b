// The kernels that grow trees, for every instruction set, compared with plain loops.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include "kernels/kernels.h"
#include "test.h"

using namespace runhooks;

namespace {

std::vector<const HistogramKernels*> tables() {
  std::vector<const HistogramKernels*> all;
  for (const char* isa : {"base", "avx2", "avx512"}) {
    if (const Kernels* table = find_kernels(isa)) all.push_back(table->histograms);
  }
  return all;
}

int64_t packed(int64_t gradient, int64_t hessian) {
  return gradient * (int64_t{1} << 32) + hessian;
}

void check_sums(const HistogramKernels& table,
                int64_t n,
                int64_t features,
                int64_t logits,
                bool wide,
                std::mt19937& random) {
  const int64_t bins = wide ? 700 : kByteBins;
  std::vector<uint8_t> rows(static_cast<size_t>((n + 1) * kBinRowBytes));
  std::vector<int64_t> values(static_cast<size_t>(n * logits));
  std::vector<int64_t> gradients(static_cast<size_t>(features * bins * logits)),
      hessians = gradients;
  std::vector<int64_t> sums = gradients, is_gradients = gradients, is_hessians = gradients;
  for (int64_t i = 0; i < n; ++i) {
    uint8_t* row = rows.data() + i * kBinRowBytes;
    std::vector<int64_t> g, h;
    for (int64_t k = 0; k < logits; ++k) {
      g.push_back(static_cast<int64_t>(random() % 60000) - 30000);
      h.push_back(static_cast<int64_t>(random() % 60000) - 20000);
      values[static_cast<size_t>(i * logits + k)] = packed(g.back(), h.back());
    }
    for (int64_t f = 0; f < features; ++f) {
      const auto bin = static_cast<int64_t>(random() % static_cast<uint32_t>(bins));
      if (wide) {
        reinterpret_cast<uint16_t*>(row)[f] = static_cast<uint16_t>(bin);
      } else {
        row[f] = static_cast<uint8_t>(bin);
      }
      for (int64_t k = 0; k < logits; ++k) {
        const auto at = static_cast<size_t>((f * bins + bin) * logits + k);
        gradients[at] += g[static_cast<size_t>(k)];
        hessians[at] += h[static_cast<size_t>(k)];
      }
    }
  }
  if (wide) {
    table.add16(n, features, bins, logits, rows.data(), values.data(), sums.data());
  } else {
    table.add8(n, features, logits, rows.data(), values.data(), sums.data());
  }
  const std::vector<int64_t> original_sums = sums;
  const auto size = static_cast<int64_t>(sums.size());
  // flush() first adds to the outputs, then overwrites them.
  std::fill(is_gradients.begin(), is_gradients.end(), 1);
  table.flush(size, false, sums.data(), is_gradients.data(), is_hessians.data());
  CHECK_EQ(is_gradients[0], gradients[0] + 1);
  CHECK_EQ(is_hessians[0], hessians[0]);
  sums = original_sums;
  table.flush(size, true, sums.data(), is_gradients.data(), is_hessians.data());
  for (int64_t f = 0; f < features * bins * logits; ++f) {
    const auto at = static_cast<size_t>(f);
    CHECK_EQ(is_gradients[at], gradients[at]);
    CHECK_EQ(is_hessians[at], hessians[at]);
    CHECK_EQ(sums[at], 0);
  }
}

}  // namespace

TEST(histograms_add_up_by_bin) {
  std::mt19937 random(7);
  for (const HistogramKernels* table : tables()) {
    for (const int64_t features : {1, 2, 3, 4, 5, 6, 7, 8}) {
      check_sums(*table, 1 + static_cast<int64_t>(random() % 300), features, 1, false, random);
    }
    check_sums(*table, 50, 5, 3, false, random);
    check_sums(*table, 50, 4, 1, true, random);
    check_sums(*table, 50, 3, 2, true, random);
  }
}

TEST(histograms_round_stochastically) {
  const PackRules rules = {8, 4, 12345, 777, 1};
  for (const HistogramKernels* table : tables()) {
    const size_t n = 10007;
    const std::vector<float> g(n, -0.30f), h(n, 0.15f);
    std::vector<int64_t> is(n);
    table->pack(static_cast<int64_t>(n), g.data(), h.data(), &rules, is.data());
    int64_t sum = 0;
    for (const int64_t both : is) {
      const bool is_expected = both == packed(-2, 0) || both == packed(-2, 1) ||
                               both == packed(-3, 0) || both == packed(-3, 1);
      CHECK(is_expected);
      sum += both;
    }
    const auto hessian = static_cast<double>(static_cast<int32_t>(sum));
    const auto gradient = static_cast<double>((sum - static_cast<int32_t>(sum)) >> 32);
    CHECK(std::abs(gradient / static_cast<double>(n) + 2.4) < 0.002);
    CHECK(std::abs(hessian / static_cast<double>(n) - 0.6) < 0.002);
    const std::vector<float> integers = {0,          1, -1, 0.125f, -0.25f, 1 << 20,
                                         -(1 << 26), 3, 5,  7,      9,      11};
    const std::vector<float> reversed(integers.rbegin(), integers.rend());
    const PackRules same = {8, 8, 999, 5, 1};
    table->pack(static_cast<int64_t>(integers.size()), integers.data(), reversed.data(), &same,
                is.data());
    for (size_t i = 0; i < integers.size(); ++i) {
      CHECK_EQ(is[i], packed(static_cast<int64_t>(integers[i] * 8),
                             static_cast<int64_t>(reversed[i] * 8)));
    }
  }
}

TEST(histograms_gather_packed_numbers) {
  const std::vector<int64_t> from = {10, 11, 20, 21, 30, 31};
  const std::vector<uint16_t> ids = {2, 0, 1};
  for (const HistogramKernels* table : tables()) {
    std::vector<int64_t> to(6);
    table->gather(3, 1, ids.data(), from.data(), to.data());
    CHECK(to == std::vector<int64_t>({20, 10, 11, 0, 0, 0}));
    table->gather(3, 2, ids.data(), from.data(), to.data());
    CHECK(to == std::vector<int64_t>({30, 31, 10, 11, 20, 21}));
  }
}

TEST(histograms_find_the_maximum_and_nonfinite_numbers) {
  std::mt19937 random(3);
  for (const HistogramKernels* table : tables()) {
    std::vector<float> x(101);
    for (float& value : x) value = static_cast<float>(random() % 1000) / 1000 - 0.5f;
    x[77] = -2;
    const auto largest = [&] {
      const uint32_t bits = table->largest(static_cast<int64_t>(x.size()), x.data());
      float value;
      std::copy_n(reinterpret_cast<const char*>(&bits), 4, reinterpret_cast<char*>(&value));
      return value;
    };
    CHECK_EQ(largest(), 2.0f);
    x[100] = -std::numeric_limits<float>::infinity();
    CHECK(std::isinf(largest()));
    x[3] = std::numeric_limits<float>::quiet_NaN();
    CHECK(std::isnan(largest()));
  }
}

TEST(histograms_look_up_the_side_of_rows) {
  std::mt19937 random(9);
  for (const HistogramKernels* table : tables()) {
    for (const bool is_wide : {false, true}) {
      const int64_t n = 77, slot = 3;
      std::vector<uint8_t> rows(n * kBinRowBytes), is(n), lookup(is_wide ? 65536 : 256);
      for (uint8_t& goes_left : lookup) goes_left = random() % 3 == 0;
      for (uint8_t& bin : rows) bin = static_cast<uint8_t>(random());
      const auto look_up = is_wide ? table->look_up16 : table->look_up8;
      look_up(n, rows.data() + (is_wide ? 2 : 1) * slot, lookup.data(), is.data());
      for (int64_t i = 0; i < n; ++i) {
        const uint8_t* row = rows.data() + i * kBinRowBytes;
        const int bin = is_wide ? row[6] + 256 * row[7] : row[3];
        CHECK_EQ(is[static_cast<size_t>(i)], lookup[static_cast<size_t>(bin)]);
      }
    }
  }
}

TEST(histograms_add_numbers_of_a_table) {
  std::mt19937 random(2);
  for (const HistogramKernels* table : tables()) {
    for (const size_t count : {1, 2, 8, 9, 32, 64, 65, 1000}) {
      const size_t n = 100;
      std::vector<float> numbers(std::max<size_t>(count, kMinTableLength)), x(n), sums(n);
      std::vector<uint16_t> which(n);
      for (float& number : numbers) number = static_cast<float>(random() % 1000) / 8;
      for (size_t i = 0; i < n; ++i) {
        x[i] = static_cast<float>(random() % 1000) / 16;
        which[i] = static_cast<uint16_t>(random() % count);
      }
      table->add_from_table(n, which.data(), static_cast<int64_t>(count), numbers.data(), x.data(),
                        sums.data());
      for (size_t i = 0; i < n; ++i) CHECK_EQ(sums[i], x[i] + numbers[which[i]]);
    }
  }
}

TEST(histograms_partition_rows) {
  std::mt19937 random(5);
  for (const HistogramKernels* table : tables()) {
    for (const size_t n : {0, 1, 2, 8, 31, 64, 500}) {
      for (const uint32_t left_of_8 : {0, 1, 4, 7, 8}) {
        const size_t capacity = n + kPartitionPadding;
        // The arrays have one element more, after the end, which must not change.
        std::vector<uint64_t> rows(n + 1), spare(capacity), parted_rows;
        std::vector<uint16_t> ids(n + 1), spare_ids(capacity), parted_ids;
        std::vector<uint8_t> goes_left(n);
        for (size_t i = 0; i <= n; ++i) {
          rows[i] = static_cast<uint64_t>(random()) << 32 | random();
          ids[i] = static_cast<uint16_t>(random());
        }
        for (uint8_t& goes_left : goes_left) goes_left = random() % 8 < left_of_8;
        for (const bool side : {true, false}) {
          for (size_t i = 0; i < n; ++i) {
            if ((goes_left[i] == 1) != side) continue;
            parted_rows.push_back(rows[i]);
            parted_ids.push_back(ids[i]);
          }
        }
        parted_rows.push_back(rows[n]);
        parted_ids.push_back(ids[n]);
        const auto left = std::count(goes_left.begin(), goes_left.end(), 1);
        const auto size = static_cast<int64_t>(n);
        CHECK_EQ(table->partition_row_ids(size, goes_left.data(), ids.data(), spare_ids.data()), left);
        CHECK_EQ(table->partition_rows(size, goes_left.data(), reinterpret_cast<uint8_t*>(rows.data()),
                                  reinterpret_cast<uint8_t*>(spare.data())),
                 left);
        CHECK(ids == parted_ids);
        CHECK(rows == parted_rows);
      }
    }
  }
}

namespace {

// Fills the subtree at index `at` of a binary tree in heap order from left to right with the next
// numbers.
void fill_heap(size_t at, std::vector<float>::const_iterator* next, std::vector<float>* heap) {
  if (at >= heap->size()) return;
  fill_heap(2 * at, next, heap);
  (*heap)[at] = *(*next)++;
  fill_heap(2 * at + 1, next, heap);
}

}  // namespace

TEST(histograms_find_bins) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  std::mt19937 random(5);
  std::uniform_int_distribution<int> draw(-300, 300);
  for (int32_t steps = 0; steps <= 10; ++steps) {
    std::vector<float> bounds((size_t{1} << steps) - 1), x = {-inf, inf, nan, -0.0f, 1e-30f};
    for (float& bound : bounds) bound = static_cast<float>(draw(random));
    if (steps > 2) std::fill_n(bounds.begin(), 3, inf);
    std::sort(bounds.begin(), bounds.end());
    std::vector<float> heap(bounds.size() + 1);
    auto next = bounds.cbegin();
    fill_heap(1, &next, &heap);
    while (x.size() < 77) x.push_back(static_cast<float>(draw(random)));
    for (const HistogramKernels* table : tables()) {
      std::vector<int32_t> is(x.size());
      table->find_bins(static_cast<int64_t>(x.size()), x.data(), steps, heap.data(), is.data());
      for (size_t i = 0; i < x.size(); ++i) {
        const auto below = std::lower_bound(bounds.begin(), bounds.end(), x[i]) - bounds.begin();
        CHECK_EQ(is[i], std::isnan(x[i]) ? 0 : static_cast<int32_t>(below));
      }
    }
  }
}

TEST(histograms_encode_bins_as_bytes) {
  std::vector<int32_t> bins;
  for (int32_t bin = -3; bin < 300; ++bin) bins.push_back(bin);
  for (const HistogramKernels* table : tables()) {
    for (const int32_t missing : {0, 255}) {
      std::vector<uint8_t> codes(bins.size());
      table->encode(static_cast<int64_t>(bins.size()), bins.data(), 253, missing, codes.data());
      for (size_t i = 0; i < bins.size(); ++i) {
        const int32_t expected = bins[i] < 0 ? missing : std::min(bins[i], 253) + 1;
        CHECK_EQ(static_cast<int32_t>(codes[i]), expected);
      }
    }
  }
}

TEST(histograms_add_gains_of_both_leaves) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> draw(-1, 1);
  for (const HistogramKernels* table : tables()) {
    for (const double l1 : {0.0, 0.4}) {
      const GainRules rules = {0.3, 2, l1, 0.01};
      std::vector<double> g(21), h(21), is(21, 1);
      for (size_t i = 0; i < g.size(); ++i) g[i] = draw(random), h[i] = 1 + draw(random);
      table->add_gains(21, g.data(), h.data(), &rules, is.data());
      const auto gain = [&](double gradient, double hessian) {
        const double beyond = std::abs(gradient) - l1;
        return beyond > 0 ? beyond * beyond / (hessian + 0.01) : 0;
      };
      for (size_t i = 0; i < g.size(); ++i) {
        const double expected = 1 + gain(g[i], h[i]) + gain(0.3 - g[i], 2 - h[i]);
        CHECK(std::abs(is[i] - expected) <= 1e-12 * (1 + std::abs(expected)));
      }
    }
  }
}

TEST(histograms_trees_of_all_depths_reach_their_leaves) {
  const auto seed = static_cast<uint32_t>(std::random_device()());
  std::printf("histograms: seed %u\n", seed);
  std::mt19937 random(seed);
  constexpr uint32_t kPlaces = 5;
  std::vector<uint8_t> block(kPlaces * kForestRows);
  for (uint8_t& code : block) code = static_cast<uint8_t>(random());
  std::vector<ByteTree> trees;
  std::vector<ByteNode> nodes;
  std::vector<float> leaves;
  for (int32_t depth = 1; depth <= kMaxByteTreeDepth; ++depth) {
    trees.push_back(
        {depth, static_cast<int32_t>(nodes.size()), static_cast<int32_t>(leaves.size())});
    for (int32_t i = 1; i < 1 << depth; ++i) {
      nodes.push_back(byte_node(random() % kPlaces, static_cast<uint8_t>(random())));
    }
    for (int32_t i = 0; i < 1 << depth; ++i)
      leaves.push_back(static_cast<float>(random() % 1000) / 7);
  }
  for (const HistogramKernels* table : tables()) {
    std::vector<float> sums(kForestRows, 0.5f);
    table->add_trees(static_cast<int64_t>(trees.size()), trees.data(), nodes.data(), leaves.data(),
                     block.data(), sums.data());
    for (int64_t row = 0; row < kForestRows; ++row) {
      float expected = 0.5f;
      for (const ByteTree& tree : trees) {
        int32_t at = 1;
        for (int32_t level = 0; level < tree.depth; ++level) {
          const ByteNode& node = nodes[static_cast<size_t>(tree.first_node + at - 1)];
          at = 2 * at + (block[static_cast<size_t>(node.first + row)] > node.threshold % 256);
        }
        expected += leaves[static_cast<size_t>(tree.first_leaf + at - (1 << tree.depth))];
      }
      CHECK_EQ(sums[static_cast<size_t>(row)], expected);
    }
  }
}

TEST(logistic_loss_has_the_same_bits_for_all_instruction_sets) {
  std::mt19937 random(11);
  for (const int64_t n : {1, 15, 16, 17, 1000}) {
    const auto size = static_cast<size_t>(n);
    std::vector<float> x(size), y(size), first_g, first_h;
    double first_sum = 0;
    for (size_t i = 0; i < size; ++i) {
      x[i] = static_cast<float>(random() % 20001) / 500 - 20;
      y[i] = static_cast<float>(random() % 3) / 2;
    }
    x[size / 2] = 500;
    x[0] = -500;
    for (const HistogramKernels* table : tables()) {
      std::vector<float> g(size), h(size);
      const double sum = table->logistic(n, x.data(), y.data(), 0.25f, g.data(), h.data());
      double expected = 0;
      for (size_t i = 0; i < size; ++i) {
        const double a = static_cast<double>(x[i]), b = static_cast<double>(y[i]);
        const double p = 1 / (1 + std::exp(-a));
        expected += std::max(a, 0.0) - a * b + std::log1p(std::exp(-std::abs(a)));
        CHECK(std::abs(static_cast<double>(g[i]) - (p - b) / 4) < 1e-7);
        CHECK(std::abs(static_cast<double>(h[i]) - p * (1 - p) / 4) < 1e-7);
      }
      CHECK(std::abs(sum - expected) < 1e-6 * (1 + expected));
      if (first_g.empty()) first_g = g, first_h = h, first_sum = sum;
      CHECK(g == first_g);
      CHECK(h == first_h);
      CHECK_EQ(sum, first_sum);
    }
    x[size - 1] = std::numeric_limits<float>::quiet_NaN();
    for (const HistogramKernels* table : tables()) {
      std::vector<float> g(size), h(size);
      CHECK(std::isnan(table->logistic(n, x.data(), y.data(), 1, g.data(), h.data())));
      CHECK(std::isnan(g[size - 1]));
    }
  }
}
