// Tests quantiles of streams: TensorFlow 1.15's results, error bounds, and resuming.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "test.h"
#include "trees/quantiles.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

std::vector<float> waves(int n) {
  std::vector<float> x;
  for (int i = 1; i <= n; ++i) {
    x.push_back(static_cast<float>(std::nearbyint(std::sin(0.7 * i) * 1000)) / 8);
  }
  return x;
}

// Summarizes each batch and adds the summaries to a stream, as TensorFlow does.
QuantileSummary of_batches(const std::vector<float>& x, size_t batches, float epsilon) {
  QuantileStream all(epsilon, int64_t{1} << 40);
  const size_t size = x.size() / batches;
  for (size_t b = 0; b < batches; ++b) {
    QuantileStream batch(epsilon, static_cast<int64_t>(size) + 1);
    for (size_t i = 0; i < size; ++i) batch.add(x[b * size + i], 1);
    all.add(batch.take());
  }
  return all.take();
}

}  // namespace

TEST(trees_quantiles_match_tensorflow) {
  CHECK(of_batches(waves(300), 1, 0.1f).boundaries(10) ==
        (std::vector<float>{-125, -113.125f, -94.875f, -59.75f, -22.25f, 10.5f, 43.25f, 82.125f,
                            103.375f, 118.875f, 125}));
  CHECK(of_batches(waves(2000), 4, 0.05f).boundaries(20) ==
        (std::vector<float>{-125,    -121.5f, -116.125f, -106.5f, -91.25f,  -79.75f,  -67.875f,
                            -55.25f, -35.75f, -15.25f,   1.25f,   17.5f,    33.625f,  53.75f,
                            72.125f, 84.125f, 95.375f,   106.375f, 115.375f, 122.625f, 125}));
  CHECK(of_batches(waves(500), 2, 0.1f).quantiles(9) ==
        (std::vector<float>{-125, -117.625f, -99, -61.625f, -28.375f, 21.625f, 65.875f, 94.5f,
                            114.25f, 125}));
}

TEST(trees_quantiles_of_many_values_are_in_order_with_their_weights) {
  std::mt19937 random(20261124);
  std::vector<std::pair<float, float>> values = {{0.0f, 1.0f}, {-0.0f, 1.0f}};
  std::map<float, float> weights = {{0.0f, 2.0f}};
  const float large = std::numeric_limits<float>::max(), small = std::numeric_limits<float>::denorm_min();
  for (int i = 0; i < 3000; ++i) {
    const float some[] = {large, -large, small, -small, std::numeric_limits<float>::infinity()};
    const int k = static_cast<int>(random() % 1000);
    const float value = k < 5 ? some[k] : static_cast<float>(k - 500) * 0.37f;
    const auto weight = static_cast<float>(1 + random() % 3);
    values.emplace_back(value, weight);
    weights[value] += weight;
  }
  const QuantileSummary summary = QuantileSummary::of(values);
  CHECK_EQ(summary.entries().size(), weights.size());
  auto expected = weights.begin();
  for (const QuantileEntry& entry : summary.entries()) {
    CHECK_EQ(entry.value, expected->first);
    CHECK_EQ(entry.weight, expected->second);
    ++expected;
  }
}

TEST(trees_quantiles_respect_their_error_bound) {
  std::mt19937_64 random(20261123);
  std::normal_distribution<float> normal;
  for (const size_t n : {10, 1000, 50000}) {
    std::vector<float> x(n);
    for (float& value : x) value = normal(random);
    const std::vector<float> edges = of_batches(x, 10, 0.02f).boundaries(50);
    CHECK(std::is_sorted(edges.begin(), edges.end()));
    CHECK(edges.size() <= 52);
    std::sort(x.begin(), x.end());
    size_t before = 0;
    for (const float edge : edges) {
      const size_t rank = std::upper_bound(x.begin(), x.end(), edge) - x.begin();
      CHECK(static_cast<double>(rank - before) <= 0.1 * static_cast<double>(n) + 1);
      before = rank;
    }
    CHECK_EQ(before, n);
  }
}

TEST(trees_quantiles_ignore_missing_and_weightless_values) {
  QuantileStream stream(0.1, 100);
  for (const float x : {1.0f, NAN, 2.0f}) stream.add(x, 1);
  stream.add(3, 0);
  CHECK(stream.take().boundaries(10) == (std::vector<float>{1, 2}));
  CHECK(stream.take().boundaries(10).empty());
}

TEST(trees_quantiles_resume_from_a_state) {
  const std::vector<float> x = waves(900);
  QuantileStream whole(0.05, 1 << 20), first(0.05, 1 << 20), second(0.05, 1 << 20);
  const auto add = [&x](QuantileStream& stream, size_t from, size_t to) {
    QuantileStream batch(0.05, static_cast<int64_t>(to - from) + 1);
    for (size_t i = from; i < to; ++i) batch.add(x[i], 1);
    stream.add(batch.take());
  };
  for (size_t i = 0; i < 900; i += 100) add(whole, i, i + 100);
  for (size_t i = 0; i < 400; i += 100) add(first, i, i + 100);
  second.set_levels(first.levels());
  for (size_t i = 400; i < 900; i += 100) add(second, i, i + 100);
  CHECK(second.take().boundaries(20) == whole.take().boundaries(20));
}
