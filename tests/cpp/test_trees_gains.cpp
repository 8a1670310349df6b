// Tests gains and leaf values of trees with several logits.
#include <cmath>
#include <vector>

#include "test.h"
#include "trees/gains.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

// Sums gradients g and hessians h in float32 over rows with three classes. A row has the first
// class; `second` and `third` are the small predicted probabilities of the others.
struct Sums {
  float g[3] = {}, h[9] = {};
  void add(float second, float third) {
    const float p[3] = {1 - (second + third), second, third};
    const float own[3] = {-(second + third), second, third};  // the first class is the label
    for (int i = 0; i < 3; ++i) {
      g[i] += own[i];
      for (int j = 0; j < 3; ++j) {
        h[3 * i + j] += i != j ? -p[i] * p[j] : std::fabs(own[i]) * (i ? 1 - p[i] : p[0]);
      }
    }
  }
};

}  // namespace

// The hessian is singular in one direction: a step that moves all logits alike. A rounding error in
// that direction must not become a step, because values of 1e11 would hide all others.
TEST(trees_gains_take_no_step_from_rounding) {
  for (const float small : {1e-2f, 1e-4f, 1e-6f, 1e-8f, 1e-10f}) {
    for (const float ratio : {1.0f, 1e-2f, 1e-5f, 1e-7f, 1e-9f}) {
      Sums sums;
      for (int row = 0; row < 50; ++row) {
        sums.add(small * (1 + row % 7) / 3, small * ratio * (1 + row % 5) / 3);
      }
      float values[3];
      const std::vector<double> g(sums.g, sums.g + 3), h(sums.h, sums.h + 9);
      const float gain = optimal_leaf(g.data(), h.data(), 3, true, Regularization{0, 0}, values);
      CHECK(std::isfinite(gain));
      // The step increases the first logit by about 1 relative to each of the others.
      for (const float value : values) CHECK(std::fabs(value) < 1.1f);
      CHECK(values[0] - values[1] > 0.5f);
    }
  }
}
