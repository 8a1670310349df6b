// Depthwise convolution: output channel c * multiplier + q is the convolution of input channel c
// with its filter q.
#include <algorithm>

#include "ops/math/elementwise.h"
#include "ops/nn/window.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

struct Depthwise {
  Depthwise(const Operation& op, const Shape& x, const Shape& filter)
      : window(op, x, filter.dim(0), filter.dim(1)),
        batch(x.dim(0)),
        channels(x.dim(3)),
        multiplier(filter.dim(3)) {}
  int64_t outputs() const { return channels * multiplier; }
  int64_t image_size() const { return window.height.in * window.width.in * channels; }
  int64_t output_size() const { return window.height.out * window.width.out * outputs(); }

  // Calls visit(image offset, filter offset, output offset) for each image cell under each filter
  // cell. The offsets are those of the first channel.
  template <typename Visit>
  void for_each_buffer_in_range(Visit visit) const {
    for (int64_t oy = 0; oy < window.height.out; ++oy) {
      for (int64_t ox = 0; ox < window.width.out; ++ox) {
        const int64_t position = (oy * window.width.out + ox) * outputs();
        visit_window(window, oy, ox, [&](int64_t y, int64_t x, int64_t ky, int64_t kx) {
          visit((y * window.width.in + x) * channels, (ky * window.width.size + kx) * outputs(),
                position);
        });
      }
    }
  }
  // Calls run(lane, image) for all images. Lanes run in parallel. The lane of an image does not
  // depend on the number of threads, so that sums per lane have the same bits.
  static constexpr int64_t kLanes = 4;
  template <typename Run>
  void for_each_image(const Run& run) const {
    const int64_t work = output_size() * window.height.size * window.width.size;
    for_each_cancellable_chunk((batch + kLanes - 1) / kLanes, kLanes * work,
                               [&](int64_t first, int64_t last) {
                                 parallel_for(std::min(batch, kLanes), [&](int64_t lane) {
                                   for (int64_t i = first * kLanes + lane;
                                        i < std::min(batch, last * kLanes); i += kLanes) {
                                     run(static_cast<size_t>(lane), i);
                                   }
                                 });
                               });
  }

  Window window;
  int64_t batch, channels, multiplier;
};

// Computes y[c, q] += x[c] * w[c, q], where q is one of m filters of channel c.
template <typename T>
void add_products_by_channel(int64_t channels, int64_t m, const T* x, const T* w, T* y) {
  if (m == 1) {
    for_elements<T>(channels, [=](int64_t c) { y[c] += x[c] * w[c]; });
    return;
  }
  for (int64_t c = 0; c < channels; ++c, w += m, y += m) {
    for (int64_t q = 0; q < m; ++q) y[q] += x[c] * w[q];
  }
}

// Computes x[c] += the sum over q of dy[c, q] * w[c, q], where q is one of m filters of channel c.
template <typename T>
void add_channel_sums(int64_t channels, int64_t m, const T* dy, const T* w, T* x) {
  if (m == 1) {
    for_elements<T>(channels, [=](int64_t c) { x[c] += dy[c] * w[c]; });
    return;
  }
  for (int64_t c = 0; c < channels; ++c, w += m, dy += m) {
    for (int64_t q = 0; q < m; ++q) x[c] += dy[q] * w[q];
  }
}

template <typename T>
class DepthwiseKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void compute(KernelContext& k) override {
    const Depthwise d(k.op(), k.input(0).shape(), k.input(1).shape());
    const T *x = k.input(0).data<T>(), *w = k.input(1).data<T>();
    T* y = k.output(0).template data<T>();
    std::fill(y, y + k.output(0).num_elements(), T(0));
    d.for_each_image([&](size_t, int64_t i) {
      const T* image = x + i * d.image_size();
      T* out = y + i * d.output_size();
      d.for_each_buffer_in_range([&](int64_t cell, int64_t weight, int64_t position) {
        add_products_by_channel(d.channels, d.multiplier, image + cell, w + weight, out + position);
      });
    });
  }
};

template <typename T>
class DepthwiseInputKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void compute(KernelContext& k) override {
    const Depthwise d(k.op(), k.output(0).shape(), k.input(1).shape());
    const T *w = k.input(1).data<T>(), *dy = k.input(2).data<T>();
    T* dx = k.output(0).template data<T>();
    std::fill(dx, dx + k.output(0).num_elements(), T(0));
    d.for_each_image([&](size_t, int64_t i) {
      T* image = dx + i * d.image_size();
      const T* out = dy + i * d.output_size();
      d.for_each_buffer_in_range([&](int64_t cell, int64_t weight, int64_t position) {
        add_channel_sums(d.channels, d.multiplier, out + position, w + weight, image + cell);
      });
    });
  }
};

template <typename T>
class DepthwiseFilterKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void compute(KernelContext& k) override {
    const Depthwise d(k.op(), k.input(0).shape(), k.output(0).shape());
    const T *x = k.input(0).data<T>(), *dy = k.input(2).data<T>();
    const auto n = static_cast<size_t>(k.output(0).num_elements());
    sums_.resize(Depthwise::kLanes);
    for (auto& sum : sums_) sum.assign(n, T(0));
    d.for_each_image([&](size_t lane, int64_t i) {
      const T *image = x + i * d.image_size(), *out = dy + i * d.output_size();
      T* sum = sums_[lane].data();
      d.for_each_buffer_in_range([&](int64_t cell, int64_t weight, int64_t position) {
        add_products_by_channel(d.channels, d.multiplier, image + cell, out + position,
                                sum + weight);
      });
    });
    T* dw = k.output(0).template data<T>();
    for (size_t j = 0; j < n; ++j) {
      dw[j] = 0;
      for (const auto& sum : sums_) dw[j] += sum[j];
    }
  }

 private:
  std::vector<std::vector<T>> sums_;
};

Shape depthwise_shape(const Operation& op, const Shape& x, const Shape& filter) {
  const Shape image = x.has_rank() ? x : Shape::unknown_of_rank(4);
  const Shape weights = filter.has_rank() ? filter : Shape::unknown_of_rank(4);
  check_equal_depth(image, weights);
  const Window window(op, image, weights.dim(0), weights.dim(1));
  const int64_t known_channels = image.dim(3) >= 0 ? image.dim(3) : weights.dim(2);
  const int64_t outputs = product_of_dims(known_channels, weights.dim(3));
  return Shape{image.dim(0), window.height.out, window.width.out, outputs};
}

Shape depthwise_shape_from_value(ShapeContext& c, int i) {
  const Tensor* value = c.value(i);
  if (!value) return Shape::unknown_of_rank(4);
  if (value->num_elements() != 4) {
    invalid_argument("Sizes of images and filters are 4 numbers, not ", value->num_elements(), ".");
  }
  return Shape(value->integers());
}

void depthwise_check_backprop(ShapeContext& c, const Shape& x, const Shape& filter) {
  const Shape expected = depthwise_shape(c.op(), x, filter);
  if (!expected.is_compatible_with(c.input(2))) {
    invalid_argument("out_backprop has shape ", c.input(2), ", but the convolution returns ",
                     expected, ".");
  }
}

Output depthwise_input_gradient(Graph& g, const Operation& op, Output x, Output filter, Output dy) {
  return same_window_op(g, op, "DepthwiseConv2dNativeBackpropInput", {shape_of(g, x), filter, dy});
}

Output depthwise_filter_gradient(
    Graph& g, const Operation& op, Output x, Output filter, Output dy) {
  return same_window_op(g, op, "DepthwiseConv2dNativeBackpropFilter", {x, shape_of(g, filter), dy});
}

}  // namespace

RUNHOOKS_REGISTER_OP("DepthwiseConv2dNative")
    .input("input: T, rank 4")
    .input("filter: T, rank 4")
    .output("output: T")
    .attr(kStrides)
    .RUNHOOKS_CONVOLUTION_ATTRS
    .shape([](ShapeContext& c) {
      c.set_output(0, depthwise_shape(c.op(), c.input(0), c.input(1)));
    })
    .kernel(kernel_by_type<DepthwiseKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output x = op.input(0), filter = op.input(1);
      return {depthwise_input_gradient(g, op, x, filter, dy[0]),
              depthwise_filter_gradient(g, op, x, filter, dy[0])};
    })
    .endpoint("nn.depthwise_conv2d_native")
    .summary("The convolution of each image channel with separate filters.")
    .example("f[2,5,4,2] f[3,2,2,3] | strides=[1,1,1,1] padding=VALID")
    .example("f[5,5,4,2] f[3,3,2,1] | strides=[1,2,2,1] padding=SAME")
    .example("f[1,6,6,1] f[2,2,1,2] | strides=[1,1,1,1] padding=SAME dilations=[1,2,3,1]");

RUNHOOKS_REGISTER_OP("DepthwiseConv2dNativeBackpropInput")
    .input("input_sizes: int32, vector, >= 0")
    .input("filter: T, rank 4")
    .input("out_backprop: T, rank 4")
    .output("output: T")
    .attr(kStrides)
    .RUNHOOKS_CONVOLUTION_ATTRS
    .shape([](ShapeContext& c) {
      const Shape x = depthwise_shape_from_value(c, 0);
      depthwise_check_backprop(c, x, c.input(1));
      c.set_output(0, x);
    })
    .kernel(kernel_by_type<DepthwiseInputKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output filter = op.input(1), inner_grad = op.input(2);
      return {Gradient(), depthwise_filter_gradient(g, op, dy[0], filter, inner_grad),
              same_window_op(g, op, "DepthwiseConv2dNative", {dy[0], filter})};
    })
    .endpoint("nn.depthwise_conv2d_backprop_input")
    .endpoint("nn.depthwise_conv2d_native_backprop_input")
    .summary("The gradient of a depthwise convolution with respect to the images.")
    .example("i{2,5,4,2} f[3,2,2,3] f[2,3,3,6] | strides=[1,1,1,1] padding=VALID")
    .example("i{1,5,4,2} f[3,3,2,1] f[1,3,2,2] | strides=[1,2,2,1] padding=SAME");

RUNHOOKS_REGISTER_OP("DepthwiseConv2dNativeBackpropFilter")
    .input("input: T, rank 4")
    .input("filter_sizes: int32, vector, >= 0")
    .input("out_backprop: T, rank 4")
    .output("output: T")
    .attr(kStrides)
    .RUNHOOKS_CONVOLUTION_ATTRS
    .shape([](ShapeContext& c) {
      const Shape filter = depthwise_shape_from_value(c, 1);
      depthwise_check_backprop(c, c.input(0), filter);
      c.set_output(0, filter);
    })
    .kernel(kernel_by_type<DepthwiseFilterKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output x = op.input(0), inner_grad = op.input(2);
      return {depthwise_input_gradient(g, op, x, dy[0], inner_grad), Gradient(),
              same_window_op(g, op, "DepthwiseConv2dNative", {x, dy[0]})};
    })
    .endpoint("nn.depthwise_conv2d_backprop_filter")
    .endpoint("nn.depthwise_conv2d_native_backprop_filter")
    .summary("The gradient of a depthwise convolution with respect to the filters.")
    .example("f[2,5,4,2] i{3,2,2,3} f[2,3,3,6] | strides=[1,1,1,1] padding=VALID")
    .example("f[5,5,4,2] i{3,3,2,1} f[5,3,2,2] | strides=[1,2,2,1] padding=SAME");

}  // namespace runhooks
