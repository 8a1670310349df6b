#include <algorithm>

#include "ops/math/elementwise.h"
#include "ops/math/integer_math.h"
#include "ops/nn/window.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

Window pooling_window(const Operation& op, const Shape& image) {
  const auto& size = op.attr<std::vector<int64_t>>("ksize");
  if (size[0] != 1 || size[3] != 1) {
    fail(Code::kUnimplemented, "Pooling supports windows over height and width only; `ksize` is ",
         str_join(size, ", "), ".");
  }
  if (size[1] < 1 || size[2] < 1) invalid_argument("`ksize` must be 1 or more.");
  return Window(op, image, size[1], size[2]);
}

// Base of the pooling kernels: the window and the sizes of one image.
class PoolKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }

 protected:
  void set_image(const Operation& op, const Shape& image) {
    window_ = std::make_unique<Window>(pooling_window(op, image));
    batch_ = image.dim(0);
    channels_ = image.dim(3);
    image_size_ = window_->height.in * window_->width.in * channels_;
    pooled_size_ = window_->height.out * window_->width.out * channels_;
  }
  struct RowRange {
    int64_t top, bottom;
  };
  // Calls run(image, rows) for ranges of output rows of all images, in order within an image.
  template <typename Run>
  void for_each_image(const Run& run) const {
    const Window& w = *window_;
    const int64_t work = w.width.out * channels_ * w.height.size * w.width.size;
    // Only large images are split into several ranges of rows.
    for_each_cancellable_chunk(w.height.out, batch_ * work, [&](int64_t top, int64_t bottom) {
      for_each_cancellable_chunk(batch_, (bottom - top) * work, [&](int64_t first, int64_t last) {
        parallel_for(last - first, [&](int64_t i) { run(first + i, RowRange{top, bottom}); });
      });
    });
  }
  // Calls visit(output position, cells) for each position, where cells(f) calls f for each cell
  // under the window.
  template <typename Visit>
  void for_each_position(const RowRange& rows, const Visit& visit) const {
    const Window& w = *window_;
    for (int64_t oy = rows.top; oy < rows.bottom; ++oy) {
      for (int64_t ox = 0; ox < w.width.out; ++ox) {
        visit((oy * w.width.out + ox) * channels_, [&](const auto& visit_cell) {
          visit_window(w, oy, ox, [&](int64_t y, int64_t x, int64_t, int64_t) {
            visit_cell((y * w.width.in + x) * channels_);
          });
        });
      }
    }
  }

  std::unique_ptr<Window> window_;
  int64_t batch_ = 0, channels_ = 0, image_size_ = 0, pooled_size_ = 0;
};

// A pooling kernel in which Reduction::compute(image, out, channels, cells) computes one output
// position.
template <typename T, typename Reduction>
class ReductionPoolKernel : public PoolKernel {
 public:
  void prepare(KernelContext& k) override { set_image(k.op(), k.input(0).shape()); }
  void compute(KernelContext& k) override {
    const T* x = k.input(0).data<T>();
    T* y = k.output(0).template data<T>();
    for_each_image([&](int64_t image, const RowRange& rows) {
      const T* from = x + image * image_size_;
      T* to = y + image * pooled_size_;
      for_each_position(rows, [&](int64_t position, const auto& cells) {
        Reduction::compute(from, to + position, channels_, cells);
      });
    });
  }
};

struct WindowMaximum {
  template <typename T, typename Cells>
  static void compute(const T* image, T* out, int64_t channels, const Cells& cells) {
    bool is_first = true;
    cells([&](int64_t cell) {
      const T* in = image + cell;
      if (is_first) {
        std::copy(in, in + channels, out);
      } else {
        for_elements<T>(channels, [=](int64_t i) { out[i] = out[i] < in[i] ? in[i] : out[i]; });
      }
      is_first = false;
    });
  }
};

template <typename T>
using MaxPoolKernel = ReductionPoolKernel<T, WindowMaximum>;

// Finds the first maximum among the cells under a window, separately for N adjacent channels.
template <typename T, int N>
class MaximumCells {
 public:
  template <typename Cells>
  MaximumCells(const T* image, const Cells& cells) {
    T max_value[N];
    CellNumber cell_number = 0;
    cells([&](int64_t cell) {
      const T* in = image + cell;
      if (cell_number == 0) std::copy(in, in + N, max_value);
      RUNHOOKS_INDEPENDENT
      for (int i = 0; i < N; ++i) {
        const CellNumber mask =
            -static_cast<CellNumber>(max_value[i] < in[i]);  // all bits set, or none
        max_cell_[i] = (cell_number & mask) | (max_cell_[i] & ~mask);
        max_value[i] = max_value[i] < in[i] ? in[i] : max_value[i];
      }
      ++cell_number;
    });
  }
  // Calls visit(cell, channel, is_maximum) for all cells and channels.
  template <typename Cells, typename Visit>
  void for_each(const Cells& cells, const Visit& visit) const {
    CellNumber cell_number = 0;
    cells([&](int64_t cell) {
      RUNHOOKS_INDEPENDENT
      for (int i = 0; i < N; ++i) visit(cell, i, max_cell_[i] == cell_number);
      ++cell_number;
    });
  }

 private:
  // As wide as T, so that loops over both vectorize well.
  using CellNumber = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  CellNumber max_cell_[N] = {};
};

// Calls run(channel, MaximumCells) for all channels of a position, several channels at once.
template <typename T, typename Cells, typename Run>
void for_each_maximum(const T* image, int64_t channels, const Cells& cells, const Run& run) {
  constexpr int kBatch = 16;
  int64_t i = 0;
  for (; i + kBatch <= channels; i += kBatch) run(i, MaximumCells<T, kBatch>(image + i, cells));
  for (; i < channels; ++i) run(i, MaximumCells<T, 1>(image + i, cells));
}

// Adds the gradient of each window to its maximum.
template <typename T>
class MaxPoolGradKernel : public PoolKernel {
 public:
  void prepare(KernelContext& k) override { set_image(k.op(), k.input(0).shape()); }
  void compute(KernelContext& k) override {
    const T *x = k.input(0).data<T>(), *dy = k.input(2).data<T>();
    T* dx = k.output(0).template data<T>();
    for_each_image([&](int64_t image, const RowRange& rows) {
      const T *from = x + image * image_size_, *grads = dy + image * pooled_size_;
      T* to = dx + image * image_size_;
      if (rows.top == 0) std::fill(to, to + image_size_, T(0));
      for_each_position(rows, [&](int64_t position, const auto& cells) {
        for_each_maximum(from, channels_, cells, [&](int64_t channel, const auto& maximum) {
          const T* grad = grads + position + channel;
          maximum.for_each(cells, [=](int64_t cell, int i, bool is_maximum) {
            const T contribution = grad[i];
            T& sum = to[cell + channel + i];
            sum = wrapping_add(sum, is_maximum ? contribution : T(0));
          });
        });
      });
    });
  }
};

// The gradient of MaxPoolGrad: gathers the value at the maximum of each window.
template <typename T>
class MaxPoolGradGradKernel : public PoolKernel {
 public:
  void prepare(KernelContext& k) override { set_image(k.op(), k.input(0).shape()); }
  void compute(KernelContext& k) override {
    const T *x = k.input(0).data<T>(), *grad = k.input(2).data<T>();
    T* out = k.output(0).template data<T>();
    for_each_image([&](int64_t image, const RowRange& rows) {
      const T *from = x + image * image_size_, *input_grads = grad + image * image_size_;
      T* to = out + image * pooled_size_;
      for_each_position(rows, [&](int64_t position, const auto& cells) {
        for_each_maximum(from, channels_, cells, [&](int64_t channel, const auto& maximum) {
          T* result = to + position + channel;
          maximum.for_each(cells, [=](int64_t cell, int i, bool is_maximum) {
            const T value = input_grads[cell + channel + i], old_value = result[i];
            result[i] = is_maximum ? value : old_value;
          });
        });
      });
    });
  }
};

struct WindowMean {
  template <typename T, typename Cells>
  static void compute(const T* image, T* out, int64_t channels, const Cells& cells) {
    int64_t count = 0;
    std::fill(out, out + channels, T(0));
    cells([&](int64_t cell) {
      const T* in = image + cell;
      for_elements<T>(channels, [=](int64_t i) { out[i] = wrapping_add(out[i], in[i]); });
      ++count;
    });
    for (int64_t i = 0; i < channels; ++i) out[i] /= static_cast<T>(count);
  }
};

template <typename T>
using AvgPoolKernel = ReductionPoolKernel<T, WindowMean>;

template <typename T>
class AvgPoolGradKernel : public PoolKernel {
 public:
  void prepare(KernelContext& k) override { set_image(k.op(), k.output(0).shape()); }
  void compute(KernelContext& k) override {
    const T* dy = k.input(1).data<T>();
    T* dx = k.output(0).template data<T>();
    for_each_image([&](int64_t image, const RowRange& rows) {
      const T* grad = dy + image * pooled_size_;
      T* to = dx + image * image_size_;
      if (rows.top == 0) std::fill(to, to + image_size_, T(0));
      for_each_position(rows, [&](int64_t position, const auto& cells) {
        int64_t count = 0;
        cells([&](int64_t) { ++count; });
        cells([&](int64_t cell) {
          const T* from = grad + position;
          T* sum = to + cell;
          for_elements<T>(channels_, [=](int64_t i) { sum[i] += from[i] / static_cast<T>(count); });
        });
      });
    });
  }
};

Shape pooling_shape(const Operation& op, const Shape& x) {
  Shape image = x;
  if (!image.has_rank()) image = Shape::unknown_of_rank(4);
  if (image.rank() != 4) {
    invalid_argument("Pooling takes images [batch, height, width, channels]; the shape is ", x,
                     ".");
  }
  const Window w = pooling_window(op, image);
  return Shape{image.dim(0), w.height.out, w.width.out, image.dim(3)};
}

void pool_shape(ShapeContext& c) { c.set_output(0, pooling_shape(c.op(), c.input(0))); }

void check_pooled(ShapeContext& c, const Shape& image, int i) {
  const Shape pooled = pooling_shape(c.op(), image);
  if (pooled.is_compatible_with(c.input(i))) return;
  invalid_argument("Input ", i, " has shape ", c.input(i), ", but pooling returns ", pooled, ".");
}

void max_pool_grad_shape(ShapeContext& c) {
  check_pooled(c, c.input(0), 1);
  check_pooled(c, c.input(0), 2);
  c.set_output(0, c.input(0));
}

void max_pool_grad_grad_shape(ShapeContext& c) {
  check_pooled(c, c.input(0), 1);
  c.set_output(0, pooling_shape(c.op(), c.input(0).merge_with(c.input(2))));
}

void avg_pool_grad_shape(ShapeContext& c) {
  const Tensor* sizes = c.value(0);
  const Shape image = sizes ? Shape(sizes->integers()) : Shape::unknown_of_rank(4);
  check_pooled(c, image, 1);
  c.set_output(0, image);
}

}  // namespace

#define RUNHOOKS_POOL_ATTRS \
  attr("ksize: list(int) >= 4, <= 4").attr(kStrides).attr(kPadding).attr(kDataFormat)

RUNHOOKS_REGISTER_OP("MaxPool")
    .input("input: T, rank 4")
    .output("output: T")
    .attr("T: {float, double, int32, int64} = DT_FLOAT")
    .RUNHOOKS_POOL_ATTRS.shape(pool_shape)
    .kernel(kernel_by_type<MaxPoolKernel, float, double, int32_t, int64_t>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {same_window_op(g, op, "MaxPoolGrad", {op.input(0), op.output(0), dy[0]})};
    })
    .endpoint("raw_ops.MaxPool")
    .summary("Max pooling.")
    .example("f[2,4,5,2] | ksize=[1,2,2,1] strides=[1,2,2,1] padding=VALID")
    .example("f[2,4,5,2] | ksize=[1,3,2,1] strides=[1,1,2,1] padding=SAME");

RUNHOOKS_REGISTER_OP("MaxPoolGrad")
    .input("orig_input: T, rank 4")
    .input("orig_output: T, rank 4")
    .input("grad: T, rank 4")
    .output("output: T")
    .RUNHOOKS_POOL_ATTRS.attr("T: {float, double, int32, int64} = DT_FLOAT")
    .shape(max_pool_grad_shape)
    .kernel(kernel_by_type<MaxPoolGradKernel, float, double, int32_t, int64_t>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Outputs inputs = {op.input(0), op.input(1), dy[0]};
      return {Gradient(), Gradient(), same_window_op(g, op, "MaxPoolGradGrad", inputs)};
    })
    .endpoint("raw_ops.MaxPoolGrad")
    .summary("The gradient of MaxPool.")
    .example("f[2,4,4,2] f[2,2,2,2] f[2,2,2,2] | ksize=[1,2,2,1] strides=[1,2,2,1] padding=VALID")
    .example("f[1,3,4,1] f[1,3,2,1] f[1,3,2,1] | ksize=[1,2,3,1] strides=[1,1,2,1] padding=SAME");

RUNHOOKS_REGISTER_OP("MaxPoolGradGrad")
    .input("orig_input: T, rank 4")
    .input("orig_output: T, rank 4")
    .input("grad: T, rank 4")
    .output("output: T")
    .RUNHOOKS_POOL_ATTRS.attr("T: {float, double, int32, int64}")
    .shape(max_pool_grad_grad_shape)
    .kernel(kernel_by_type<MaxPoolGradGradKernel, float, double, int32_t, int64_t>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Outputs inputs = {op.input(0), op.input(1), dy[0]};
      return {Gradient(), Gradient(), same_window_op(g, op, "MaxPoolGrad", inputs)};
    })
    .endpoint("raw_ops.MaxPoolGradGrad")
    .summary("The gradient of MaxPoolGrad.")
    .example("f[2,4,4,2] f[2,2,2,2] f[2,4,4,2] | ksize=[1,2,2,1] strides=[1,2,2,1] padding=VALID");

RUNHOOKS_REGISTER_OP("AvgPool")
    .input("value: T, rank 4")
    .output("output: T")
    .RUNHOOKS_POOL_ATTRS.attr("T: {float, double}")
    .shape(pool_shape)
    .kernel(kernel_by_type<AvgPoolKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {same_window_op(g, op, "AvgPoolGrad", {shape_of(g, op.input(0)), dy[0]})};
    })
    .endpoint("raw_ops.AvgPool")
    .summary("Average pooling.")
    .example("f[2,4,5,2] | ksize=[1,2,2,1] strides=[1,2,2,1] padding=VALID")
    .example("f[2,4,5,2] | ksize=[1,3,2,1] strides=[1,1,2,1] padding=SAME");

RUNHOOKS_REGISTER_OP("AvgPoolGrad")
    .input("orig_input_shape: int32, vector, >= 0")
    .input("grad: T, rank 4")
    .output("output: T")
    .RUNHOOKS_POOL_ATTRS.attr("T: {float, double}")
    .shape(avg_pool_grad_shape)
    .kernel(kernel_by_type<AvgPoolGradKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {Gradient(), same_window_op(g, op, "AvgPool", {dy[0]})};
    })
    .endpoint("raw_ops.AvgPoolGrad")
    .summary("The gradient of AvgPool.")
    .example("i{1,3,4,1} f[1,3,2,1] | ksize=[1,2,3,1] strides=[1,1,2,1] padding=SAME");

}  // namespace runhooks
