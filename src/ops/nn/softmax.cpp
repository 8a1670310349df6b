#include "ops/math/quiet_math.h"

#include <algorithm>
#include <cmath>

#include "ops/math/elementwise.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

int64_t last_dim(const Tensor& x) { return x.shape().dim(x.shape().rank() - 1); }
int64_t num_rows(const Tensor& x) { return last_dim(x) == 0 ? 0 : x.num_elements() / last_dim(x); }

template <typename T>
T max_of_row(const T* x, int64_t n) {
  T max_logit = x[0];
  for (int64_t j = 1; j < n; ++j) max_logit = x[j] > max_logit ? x[j] : max_logit;
  return max_logit;
}

// Rows with few classes are shorter than a vector register, so one loop computes the exponentials
// of several rows.
constexpr int64_t kElementsPerBlock = 512, kMaxRowsPerBlock = 64;

// Sets each row of y to exp(x - maximum of the row). Then calls finish_row(row index, maximum, row
// of x, row of y, sum of the row of y).
template <typename T, typename FinishRow>
void for_each_exponential_row(
    const T* x, int64_t rows, int64_t n, T* y, const FinishRow& finish_row) {
  const int64_t rows_per_block =
      std::clamp<int64_t>(kElementsPerBlock / std::max<int64_t>(n, 1), 1, kMaxRowsPerBlock);
  T max_logit[kMaxRowsPerBlock];
  for (int64_t first_row = 0; first_row < rows; first_row += rows_per_block) {
    const int64_t block = std::min(rows_per_block, rows - first_row);
    const T* const from = x + first_row * n;
    T* const to = y + first_row * n;
    for (int64_t r = 0; r < block; ++r) {
      max_logit[r] = max_of_row(from + r * n, n);
      for (int64_t j = 0; j < n; ++j) to[r * n + j] = from[r * n + j] - max_logit[r];
    }
    for_elements<T>(block * n, [=](int64_t i) { to[i] = exp_nonpositive(to[i]); });
    for (int64_t r = 0; r < block; ++r) {
      T* const row = to + r * n;
      T sum = 0;
      for (int64_t j = 0; j < n; ++j) sum += row[j];
      finish_row(first_row + r, max_logit[r], from + r * n, row, sum);
    }
  }
}

template <typename T>
class SoftmaxKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t n = last_dim(c.input(0)), rows = num_rows(c.input(0));
    const T* x = c.input(0).data<T>();
    T* y = c.output(0).template data<T>();
    for_each_exponential_row(x, rows, n, y, [n](int64_t, T, const T*, T* row, T sum) {
      const T scale = T(1) / sum;
      for (int64_t j = 0; j < n; ++j) row[j] *= scale;
    });
  }
};

template <typename T>
class LogSoftmaxKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t n = last_dim(c.input(0)), rows = num_rows(c.input(0));
    const T* x = c.input(0).data<T>();
    T* y = c.output(0).template data<T>();
    for_each_exponential_row(x, rows, n, y,
                             [n](int64_t, T max_logit, const T* logits, T* row, T sum) {
                               const T log_sum = std::log(sum);
                               for (int64_t j = 0; j < n; ++j)
                                 row[j] = logits[j] - max_logit - log_sum;
                             });
  }
};

// Computes the loss and its gradient together, because both need the exponentials.
template <typename T>
class SoftmaxCrossEntropyKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t n = last_dim(c.input(0)), rows = num_rows(c.input(0));
    const T *x = c.input(0).data<T>(), *labels = c.input(1).data<T>();
    T* loss = c.output(0).template data<T>();
    T* grad = c.output(1).template data<T>();
    // Rows without classes have loss 0.
    if (n == 0) std::fill(loss, loss + c.output(0).num_elements(), T(0));
    const auto finish_row = [=](int64_t r, T max_logit, const T* logits, T* row, T sum) {
      const T* const row_labels = labels + r * n;
      const T scale = T(1) / sum, log_sum = std::log(sum);
      T total = 0;
      for (int64_t j = 0; j < n; ++j) {
        total += row_labels[j] * (log_sum - (logits[j] - max_logit));
        row[j] = row[j] * scale - row_labels[j];
      }
      loss[r] = total;
    };
    for_each_exponential_row(x, rows, n, grad, finish_row);
  }
};

template <typename T>
class SparseSoftmaxCrossEntropyKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    if (c.input(1).dtype() == DType::kInt64) {
      run<int64_t>(c);
    } else {
      run<int32_t>(c);
    }
  }

 private:
  template <typename Label>
  void run(KernelContext& c) {
    const int64_t n = last_dim(c.input(0)), rows = num_rows(c.input(0));
    const T* x = c.input(0).data<T>();
    const Label* labels = c.input(1).data<Label>();
    T* loss = c.output(0).template data<T>();
    T* grad = c.output(1).template data<T>();
    for (int64_t r = 0; r < rows; ++r) {
      const auto label = static_cast<int64_t>(labels[r]);
      if (label < 0 || label >= n) throw_invalid_label(label, r, n);
    }
    for_each_exponential_row(x, rows, n, grad,
                             [=](int64_t r, T max_logit, const T* logits, T* row, T sum) {
                               const auto label = static_cast<int64_t>(labels[r]);
                               const T scale = T(1) / sum;
                               for (int64_t j = 0; j < n; ++j) row[j] *= scale;
                               row[label] -= T(1);
                               loss[r] = std::log(sum) - (logits[label] - max_logit);
                             });
  }
  [[noreturn]] static void throw_invalid_label(int64_t label, int64_t row, int64_t n) {
    throw Error(
        Code::kInvalidArgument,
        str_cat("Received a label value of ", label, " which is outside the valid range of [0, ", n,
                ") in row ", row + 1, " of the batch."),
        {str_cat("With ", n, " classes labels are whole numbers from 0 to ", n - 1, ".")});
  }
};

void cross_entropy_shape(ShapeContext& c) {
  if (!c.input(0).is_compatible_with(c.input(1))) {
    invalid_argument("logits and labels must have the same shape; got ", c.input(0), " and ",
                     c.input(1), ".");
  }
  const Shape logits = c.with_rank(0, 2).merge_with(c.with_rank(1, 2));
  c.set_output(0, Shape{logits.dim(0)});
  c.set_output(1, logits);
}

void sparse_cross_entropy_shape(ShapeContext& c) {
  const Shape logits = c.with_rank(0, 2), labels = c.with_rank(1, 1);
  const int64_t rows = logits.dim(0), num_labels = labels.dim(0);
  if (logits.dim(1) == 0) {
    invalid_argument("Must have at least one class, but got logits shape ", logits, ".");
  }
  if (rows >= 0 && num_labels >= 0 && rows != num_labels) {
    invalid_argument("There must be one label for each row of logits; got logits of shape ", logits,
                     " and labels of shape ", labels, ".");
  }
  c.set_output(0, Shape{rows >= 0 ? rows : num_labels});
  c.set_output(1, logits);
}

Output sum_of_each_row(Graph& g, Output x) {
  return g.op("Sum", {x, g.int_vector({-1})}).attr("keep_dims", true);
}

Output as_column(Graph& g, Output x) {
  return g.op("ExpandDims", {x, g.scalar(DType::kInt32, -1)});
}

Output softmax_gradient(Graph& g, Output d, Output s) {
  return multiply(g, subtract(g, d, sum_of_each_row(g, multiply(g, d, s))), s);
}

// Computes the gradient of the logits. The second output is the gradient of the loss, so its
// gradient is nonzero only in second derivatives.
Output logits_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output loss_grad = multiply(g, as_column(g, dy[0]), op.output(1));
  if (dy[1].op->type() == "ZerosLike") return loss_grad;
  return add(g, loss_grad, softmax_gradient(g, dy[1], g.op("Softmax", {op.input(0)})));
}

Grads cross_entropy_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output logs = g.op("LogSoftmax", {op.input(0)});
  Output labels_grad = multiply(g, as_column(g, dy[0]), negative(g, logs));
  if (dy[1].op->type() != "ZerosLike") labels_grad = subtract(g, labels_grad, dy[1]);
  return {logits_gradient(g, op, dy), labels_grad};
}

}  // namespace

RUNHOOKS_REGISTER_OP("Softmax")
    .input("logits: T, rank >= 1")
    .output("softmax: T")
    .attr("T: {float, double}")
    .shape(unchanged_shape)
    .kernel(kernel_by_type<SoftmaxKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {softmax_gradient(g, dy[0], op.output(0))};
    })
    .endpoint("raw_ops.Softmax")
    .summary("exp(x) / sum(exp(x)) along the last dimension.")
    .example("f[2,3]")
    .example("f[2,2,3]");

RUNHOOKS_REGISTER_OP("LogSoftmax")
    .input("logits: T, rank >= 1")
    .output("logsoftmax: T")
    .attr("T: {float, double}")
    .shape(unchanged_shape)
    .kernel(kernel_by_type<LogSoftmaxKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output s = g.op("Exp", {op.output(0)});
      return {subtract(g, dy[0], multiply(g, sum_of_each_row(g, dy[0]), s))};
    })
    .endpoint("raw_ops.LogSoftmax")
    .summary("x - log(sum(exp(x))) along the last dimension.")
    .example("f[2,3]");

RUNHOOKS_REGISTER_OP("SoftmaxCrossEntropyWithLogits")
    .input("features: T, rank 2")
    .input("labels: T, rank 2")
    .output("loss: T")
    .output("backprop: T")
    .attr("T: {float, double}")
    .shape(cross_entropy_shape)
    .kernel(kernel_by_type<SoftmaxCrossEntropyKernel, float, double>())
    .gradient(cross_entropy_gradient)
    .endpoint("raw_ops.SoftmaxCrossEntropyWithLogits")
    .summary("The cross entropy of each row of labels and the softmax of its logits.")
    .example("f[4,3] d[4,3]");

RUNHOOKS_REGISTER_OP("SparseSoftmaxCrossEntropyWithLogits")
    .input("features: T, rank 2")
    .input("labels: Tlabels, vector")
    .output("loss: T")
    .output("backprop: T")
    .attr("T: {float, double}")
    .attr("Tlabels: {int32, int64} = DT_INT64")
    .shape(sparse_cross_entropy_shape)
    .kernel(kernel_by_type<SparseSoftmaxCrossEntropyKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {logits_gradient(g, op, dy), Gradient()};
    })
    .endpoint("raw_ops.SparseSoftmaxCrossEntropyWithLogits")
    .summary("The cross entropy of each row of logits and the class index in labels.")
    .example("f[4,3] i{0,2,1,1}");

}  // namespace runhooks
