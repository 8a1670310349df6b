#include <type_traits>

#include "base/parallel_for.h"
#include "base/threads.h"
#include "kernels/kernels.h"
#include "ops/linalg/matrix_product.h"
#include "ops/state/gradient_helpers.h"
#include "ops/state/tensor_list.h"

namespace runhooks {

namespace {

void matmul_shape(ShapeContext& c) {
  const Shape a = c.with_rank(0, 2), b = c.with_rank(1, 2);
  const bool ta = c.op().attr_bool("transpose_a"), tb = c.op().attr_bool("transpose_b");
  const int64_t inner_a = a.dim(ta ? 0 : 1), inner_b = b.dim(tb ? 1 : 0);
  if (inner_a >= 0 && inner_b >= 0 && inner_a != inner_b) {
    invalid_argument("Dimensions must be equal, but are ", inner_a, " and ", inner_b,
                     " for the product of shapes ", a, " and ", b, ".");
  }
  c.set_output(0, Shape{a.dim(ta ? 1 : 0), b.dim(tb ? 0 : 1)});
}

template <typename T>
class MatMulGroup : public KernelGroup {
 public:
  MatMulGroup(bool ta, bool tb, int64_t m, int64_t n, int64_t k)
      : ta_(ta), tb_(tb), m_(m), n_(n), k_(k) {}
  void add(const T* a, const T* b, T* y) {
    a_.push_back(a);
    b_.push_back(b);
    y_.push_back(y);
  }
  bool compute() override {
    kernels().gemm->of<T>().each(static_cast<int64_t>(y_.size()), ta_, tb_, m_, n_, k_, a_.data(),
                                 b_.data(), y_.data(), kernel_threads());
    return true;
  }

 private:
  const bool ta_, tb_;
  const int64_t m_, n_, k_;
  std::vector<const T*> a_, b_;
  std::vector<T*> y_;
};

template <typename T>
class MatMulKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void prepare(KernelContext& c) override {
    ta_ = c.op().attr_bool("transpose_a");
    tb_ = c.op().attr_bool("transpose_b");
    m_ = c.output(0).shape().dim(0);
    n_ = c.output(0).shape().dim(1);
    k_ = c.input(0).shape().dim(ta_ ? 0 : 1);
    a_ = c.input(0).data<T>();
    b_ = c.input(1).data<T>();
    y_ = c.output(0).template data<T>();
  }
  void compute(KernelContext&) override { matrix_product(ta_, tb_, m_, n_, k_, a_, b_, y_); }
  bool can_batch_with(const KernelContext&, const GroupMember& other) const override {
    const auto& other_kernel = static_cast<const MatMulKernel&>(*other.kernel);
    return std::is_floating_point_v<T> && ta_ == other_kernel.ta_ && tb_ == other_kernel.tb_ &&
           m_ == other_kernel.m_ && n_ == other_kernel.n_ && k_ == other_kernel.k_;
  }
  std::unique_ptr<KernelGroup> group(const std::vector<GroupMember>& members) override {
    if constexpr (std::is_floating_point_v<T>) {
      auto group = std::make_unique<MatMulGroup<T>>(ta_, tb_, m_, n_, k_);
      for (const GroupMember& member : members) {
        const auto& kernel = static_cast<const MatMulKernel&>(*member.kernel);
        group->add(kernel.a_, kernel.b_, kernel.y_);
      }
      return group;
    }
    return nullptr;
  }

 private:
  bool ta_ = false, tb_ = false;
  int64_t m_ = 0, n_ = 0, k_ = 0;
  const T* a_ = nullptr;
  const T* b_ = nullptr;
  T* y_ = nullptr;
};

Output matmul(Graph& g, Output a, bool ta, Output b, bool tb) {
  return g.op("MatMul", {a, b}).attr("transpose_a", ta).attr("transpose_b", tb);
}

Grads matmul_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const bool ta = op.attr_bool("transpose_a"), tb = op.attr_bool("transpose_b");
  const Output a = op.input(0), b = op.input(1), d = dy[0];
  if (!ta && !tb) return {matmul(g, d, false, b, true), matmul(g, a, true, d, false)};
  if (!ta && tb) return {matmul(g, d, false, b, false), matmul(g, d, true, a, false)};
  if (ta && !tb) return {matmul(g, b, false, d, true), matmul(g, a, false, d, false)};
  return {matmul(g, b, true, d, true), matmul(g, d, true, a, true)};
}

template <typename T>
void add_bias(int64_t rows, int64_t width, const T* x, const T* bias, T* y) {
  if constexpr (std::is_floating_point_v<T>) {
    kernels().dense->of<T>().add_bias(rows, width, x, bias, y, kernel_threads());
  } else {
    for (int64_t r = 0; r < rows; ++r, x += width, y += width) {
      for (int64_t j = 0; j < width; ++j) y[j] = wrapping_add(x[j], bias[j]);
    }
  }
}

template <typename T>
void sum_columns(int64_t rows, int64_t width, const T* x, T* sums) {
  if constexpr (std::is_floating_point_v<T>) {
    kernels().dense->of<T>().column_sums(rows, width, x, sums, kernel_threads());
  } else {
    for (int64_t j = 0; j < width; ++j) sums[j] = 0;
    for (int64_t r = 0; r < rows; ++r, x += width) {
      for (int64_t j = 0; j < width; ++j) sums[j] = wrapping_add(sums[j], x[j]);
    }
  }
}

int64_t rows_of(const Tensor& x, int64_t width) {
  return width == 0 ? 0 : x.num_elements() / width;
}

bool has_channels_first(const Operation& op) {
  return op.attr<std::string>("data_format") == "NCHW";
}

// Returns the channel dimension: the last one, or the second for the data format NCHW.
int channel_axis(const Operation& op, const Shape& x) {
  if (!has_channels_first(op)) return x.rank() - 1;
  if (x.rank() < 3) {
    invalid_argument("The input must have at least 3 dimensions for NCHW; got shape ", x, ".");
  }
  return 1;
}

// Returns the number of elements per channel of an image, contiguous in memory (NCHW).
int64_t elements_per_channel(const Shape& x) {
  int64_t n = 1;
  for (int i = 2; i < x.rank(); ++i) n *= x.dim(i);
  return n;
}

// Adds a vector to each row. With channels first, adds one of its elements to each channel.
template <typename T>
class BiasAddKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void prepare(KernelContext& c) override { channels_first_ = has_channels_first(c.op()); }
  void compute(KernelContext& c) override {
    const Tensor &x = c.input(0), &bias = c.input(1);
    const int64_t width = bias.num_elements();
    if (channels_first_) return add_to_channels(x, bias, c.output(0));
    add_bias(rows_of(x, width), width, x.data<T>(), bias.data<T>(), c.output(0).template data<T>());
  }

 private:
  static void add_to_channels(const Tensor& x, const Tensor& bias, Tensor& out) {
    const int64_t n = elements_per_channel(x.shape()), channels = bias.num_elements();
    const T *from = x.data<T>(), *b = bias.data<T>();
    T* y = out.data<T>();
    for (int64_t block = 0; block * n < x.num_elements(); ++block, from += n, y += n) {
      for (int64_t i = 0; i < n; ++i) {
        y[i] = wrapping_add(from[i], b[block % channels]);
      }
    }
  }
  bool channels_first_ = false;
};

template <typename T>
class BiasAddGradKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void prepare(KernelContext& c) override { channels_first_ = has_channels_first(c.op()); }
  void compute(KernelContext& c) override {
    const Tensor& dy = c.input(0);
    Tensor& sums = c.output(0);
    const int64_t width = sums.num_elements();
    if (channels_first_) return sum_channels(dy, sums);
    sum_columns(rows_of(dy, width), width, dy.data<T>(), sums.data<T>());
  }

 private:
  static void sum_channels(const Tensor& dy, Tensor& sums) {
    const int64_t n = elements_per_channel(dy.shape()), channels = sums.num_elements();
    const T* from = dy.data<T>();
    T* y = sums.data<T>();
    std::fill(y, y + channels, T(0));
    for (int64_t block = 0; block * n < dy.num_elements(); ++block, from += n) {
      T& sum = y[block % channels];
      for (int64_t i = 0; i < n; ++i) sum = wrapping_add(sum, from[i]);
    }
  }
  bool channels_first_ = false;
};

template <typename T>
void add_all(const std::vector<const T*>& x, int64_t first, int64_t n, T* y) {
  if constexpr (std::is_floating_point_v<T>) {
    kernels().dense->of<T>().add_all(static_cast<int64_t>(x.size()), first, n, x.data(), y);
  } else {
    for (int64_t i = first; i < first + n; ++i) {
      T sum = x[0][i];
      for (size_t k = 1; k < x.size(); ++k) sum = wrapping_add(sum, x[k][i]);
      y[i] = sum;
    }
  }
}

template <typename T>
class AddNKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    inputs_.clear();
    for (int k = 0; k < c.num_inputs(); ++k) inputs_.push_back(c.input(k).data<T>());
  }
  void compute(KernelContext& c) override {
    T* y = c.output(0).template data<T>();
    parallel_for_range(c.output(0).num_elements(),
                       [&](int64_t first, int64_t n) { add_all(inputs_, first, n, y); });
  }

 private:
  std::vector<const T*> inputs_;
};

void bias_add_shape(ShapeContext& c) {
  const Shape& x = c.input(0);
  const Shape bias = c.with_rank(1, 1);
  if (x.has_rank()) {
    const int64_t width = x.dim(channel_axis(c.op(), x));
    if (width >= 0 && bias.dim(0) >= 0 && width != bias.dim(0)) {
      invalid_argument("A bias of ", bias.dim(0), " elements cannot be added to shape ", x, ".");
    }
  }
  c.set_output(0, x);
}

}  // namespace

RUNHOOKS_REGISTER_OP("MatMul")
    .input("a: T, rank 2")
    .input("b: T, rank 2")
    .output("product: T")
    .attr("transpose_a: bool = false")
    .attr("transpose_b: bool = false")
    .attr("T: numbertype")
    .shape(matmul_shape)
    .kernel(kernel_by_type<MatMulKernel, float, double, int32_t, int64_t>())
    .gradient(matmul_gradient)
    .endpoint("raw_ops.MatMul")
    .summary("The matrix product of a and b.")
    .example("f[2,3] f[3,4]")
    .example("f[3,2] f[3,4] | transpose_a=true")
    .example("f[2,3] f[4,3] | transpose_b=true")
    .example("f[3,2] f[4,3] | transpose_a=true transpose_b=true");

RUNHOOKS_REGISTER_OP("BiasAdd")
    .input("value: T, rank >= 2")
    .input("bias: T, vector")
    .output("output: T")
    .attr("T: numbertype")
    .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .shape(bias_add_shape)
    .kernel(kernel_by_type<BiasAddKernel, float, double, int32_t, int64_t>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const auto& format = op.attr<std::string>("data_format");
      return {dy[0], g.op("BiasAddGrad", {dy[0]}).attr("data_format", format)};
    })
    .r("nn.bias_add(value, bias, data_format = NULL, name = NULL)")
    .summary("Adds a vector to each row.")
    .example("f[2,3] f[3]")
    .example("f[2,3,2] f[3] | data_format=NCHW");

RUNHOOKS_REGISTER_OP("BiasAddGrad")
    .input("out_backprop: T, rank >= 2")
    .output("output: T")
    .attr("T: numbertype")
    .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .shape([](ShapeContext& c) {
      const Shape& x = c.input(0);
      const bool is_known = x.has_rank();
      c.set_output(0, Shape{is_known ? x.dim(channel_axis(c.op(), x)) : Shape::kUnknownDim});
    })
    .kernel(kernel_by_type<BiasAddGradKernel, float, double, int32_t, int64_t>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      Output grad_by_channel = dy[0];
      if (has_channels_first(op)) {
        std::vector<int32_t> dims(static_cast<size_t>(op.input(0).shape().rank()) - 1, 1);
        dims[0] = -1;
        grad_by_channel = g.op("Reshape", {dy[0], g.int_vector(dims)});
      }
      return {g.op("BroadcastTo", {grad_by_channel, shape_of(g, op.input(0))})};
    })
    .endpoint("raw_ops.BiasAddGrad")
    .summary("The sum over all but the last dimension.")
    .example("f[4,3]")
    .example("f[2,3,2] | data_format=NCHW");

RUNHOOKS_REGISTER_OP("AddN")
    .input("inputs: N * T")
    .output("sum: T")
    .attr("N: int >= 1")
    .attr("T: {float, double, int32, int64, variant}")
    .shape([](ShapeContext& c) {
      Shape shape = c.input(0);
      for (int i = 1; i < c.num_inputs(); ++i) shape = shape.merge_with(c.input(i));
      c.set_output(0, shape);
    })
    .kernel([](const Operation& op) -> std::unique_ptr<Kernel> {
      if (op.attr_type("T") == DType::kVariant) return make_list_sum();
      return kernel_by_type<AddNKernel, float, double, int32_t, int64_t>()(op);
    })
    .gradient([](Graph&, Operation& op, const Outputs& dy) -> Grads {
      return Grads(op.inputs().size(), Gradient(dy[0]));
    })
    .summary("The sum of tensors of equal shape.")
    .example("f[2,3] f[2,3] f[2,3]");

}  // namespace runhooks
