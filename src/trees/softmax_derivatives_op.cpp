// The derivatives of a softmax loss for growing trees, in one pass.
#include <algorithm>

#include "graph/graph.h"
#include "graph/op_registry.h"
#include "trees/parallel.h"

namespace runhooks {

namespace {

class SoftmaxDerivativesKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor &loss_gradients = c.input(0), &labels = c.input(1), &weights = c.input(2);
    const int64_t rows = loss_gradients.shape().dim(0), k = loss_gradients.shape().dim(1);
    if (labels.num_elements() != rows || weights.num_elements() != rows) {
      invalid_argument("Gradients of ", rows, " rows need as many labels and weights, not ",
                       labels.num_elements(), " and ", weights.num_elements(), ".");
    }
    const auto* ids = labels.data<int64_t>();
    for (int64_t row = 0; row < rows; ++row) {
      if (ids[row] < 0 || ids[row] >= k) invalid_argument("Label ", ids[row], " is not a class.");
    }
    auto *gradients = c.output(0).data<float>(), *hessians = c.output(1).data<float>();
    constexpr int64_t kChunk = 2048;
    const auto by_row = k == 3 ? &differentiate<3> : &differentiate<0>;
    parallel_for((rows + kChunk - 1) / kChunk, [&](int64_t chunk) {
      for (int64_t row = chunk * kChunk; row < std::min(rows, (chunk + 1) * kChunk); ++row) {
        by_row(k, loss_gradients.data<float>() + row * k, ids[row], weights.data<float>()[row],
               gradients + row * k, hessians + row * k);
      }
    });
  }

 private:
  // `loss_gradients` has the probability p of each class, and p - 1 for the label's class. Computes
  // 1 - p as the sum of the other probabilities, which avoids cancellation if p is near 1.
  // `kClasses` is the compile-time value of `k`, or 0.
  template <int64_t kClasses>
  static void differentiate(
      int64_t k, const float* loss_gradients, int64_t label, float weight, float* g, float* h) {
    const int64_t n = kClasses > 0 ? kClasses : k;
    std::copy_n(loss_gradients, n, g);
    g[label] += 1;
    float before = 0, after = 0;
    for (int64_t i = 0; i < n; ++i) {
      h[i] = before;
      before += g[i];
    }
    for (int64_t i = n; i-- > 0;) {
      h[i] += after;
      after += g[i];
    }
    const float other_probabilities = h[label];
    for (int64_t i = 0; i < n; ++i) {
      g[i] *= weight;
      h[i] *= 2 * g[i];
    }
    g[label] = -weight * other_probabilities;
  }
};

void lower_softmax_derivatives(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  const Output one = g.scalar(DType::kFloat32, 1, "one"), two = g.scalar(DType::kFloat32, 2, "two");
  const auto k = static_cast<double>(inputs[0].shape().dim(1));
  const Output y = g.op("OneHot", {inputs[1], g.scalar(DType::kInt32, k, "depth"), one,
                                   g.scalar(DType::kFloat32, 0, "off")});
  const Output p = g.op("AddV2", {inputs[0], y});
  const Output weights = g.op("ExpandDims", {inputs[2], g.scalar(DType::kInt32, 1, "axis")});
  const Output variance = g.op("Mul", {p, g.op("Sub", {one, p})});
  const Output gradients = g.op("Mul", {inputs[0], weights});
  const Output hessians = g.op("Mul", {g.op("Mul", {variance, weights}), two});
  g.op("IdentityN", {gradients, hessians}).named(op.name() + "/").build();
}

}  // namespace

RUNHOOKS_REGISTER_OP("BoostedTreesSoftmaxDerivatives")
    .input("softmax_gradients: float, rank 2")
    .input("labels: int64, vector")
    .input("weights: float, vector")
    .output("gradients: float")
    .output("hessians: float")
    .shape([](ShapeContext& c) {
      c.set_output(0, c.with_rank(0, 2));
      c.set_output(1, c.with_rank(0, 2));
    })
    .kernel(kernel_of<SoftmaxDerivativesKernel>())
    .lower(lower_softmax_derivatives)
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesSoftmaxDerivatives")
    .summary(
        "The first derivatives of a weighted softmax loss by the logits, and twice the diagonals "
        "of the second ones, as in xgboost. `softmax_gradients` are the first derivatives without "
        "weights.")
    .example("e[3,2]{-1,1,1,-1,0,0} l{0,1,0} e[3]");

}  // namespace runhooks
