// 2-D convolution as a matrix product: patches (see patches.h) times the filter, as a matrix
// [height * width * channels, outputs].
#include <algorithm>
#include <memory>

#include "ops/linalg/matrix_product.h"
#include "ops/math/elementwise.h"
#include "ops/nn/patches.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

// A convolution of x [batch, height, width, channels] with a filter [height, width, channels,
// outputs].
struct Convolution {
  Convolution(const Operation& op, const Shape& x, const Shape& filter)
      : window(op, x, filter.dim(0), filter.dim(1)),
        batch(x.dim(0)),
        channels(x.dim(3)),
        outputs(filter.dim(3)) {}
  int64_t num_positions() const { return window.height.out * window.width.out; }
  int64_t window_cells() const { return window.height.size * window.width.size; }
  int64_t patch_size() const { return window_cells() * channels; }
  int64_t image_size() const { return window.height.in * window.width.in * channels; }
  bool is_empty() const {
    return batch * num_positions() * outputs * patch_size() * image_size() == 0;
  }
  // Whether the filter is 1 x 1 with stride 1, so that the patches are the image itself.
  bool is_matrix_product() const {
    auto plain = [](const WindowAxis& a) { return a.size == 1 && a.stride == 1; };
    return plain(window.height) && plain(window.width);
  }

  Window window;
  int64_t batch, channels, outputs;
};

// Multiplies patches. Each lane, which runs in parallel to others, has a buffer for padded images.
template <typename T>
class PatchMultiplier {
 public:
  PatchMultiplier(const WindowAxis& height,
                  const WindowAxis& width,
                  int64_t batch,
                  int64_t channels,
                  int64_t max_lanes)
      : patches_(height, width, batch, channels),
        cells_per_patch_(height.size * width.size * channels) {
    buffers_.resize(static_cast<size_t>(std::min(max_lanes, patches_.num_chunks())));
    for (auto& buffer : buffers_) buffer.resize(static_cast<size_t>(patches_.buffer_size()));
  }
  size_t num_lanes() const { return buffers_.size(); }

  // Computes y [positions, outputs] = patches of x times the filter.
  void multiply(const T* x, const T* filter, int64_t outputs, T* y) {
    for_each_chunk(x, outputs, [&](size_t, const Patches::Chunk& chunk, const T* from, bool) {
      kernels().gemm->of<T>().gathered(patches_.by_position(chunk), outputs, from, filter,
                                       y + chunk.position * outputs, false);
    });
  }
  // Accumulates transpose(patches of x) times dy [positions, outputs], one sum per lane.
  void multiply_transposed(const T* x,
                           const T* dy,
                           int64_t outputs,
                           std::vector<std::vector<T>>& sums) {
    for_each_chunk(x, outputs,
                   [&](size_t lane, const Patches::Chunk& chunk, const T* from, bool is_first) {
                     kernels().gemm->of<T>().gathered(patches_.by_cell(chunk), outputs, from,
                                                      dy + chunk.position * outputs,
                                                      sums[lane].data(), !is_first);
                   });
  }

 private:
  template <typename Run>
  void for_each_chunk(const T* x, int64_t outputs, const Run& run) {
    patches_.for_each_chunk(
        static_cast<int64_t>(num_lanes()), cells_per_patch_ * outputs,
        [&](int64_t number, const Patches::Chunk& chunk, bool is_first) {
          const auto lane = static_cast<size_t>(number);
          run(lane, chunk, patches_.gather_source(chunk, x, buffers_[lane].data()), is_first);
        });
  }
  Patches patches_;
  int64_t cells_per_patch_;  // per window position
  std::vector<std::vector<T>> buffers_;
};

// The number of lanes is constant, so that results do not depend on the number of threads.
constexpr int64_t kLanes = 8;
constexpr int64_t kLanesForSums = 4;  // each has a buffer of the filter's size

template <typename T>
class Conv2DKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void prepare(KernelContext& k) override {
    conv_ = std::make_unique<Convolution>(k.op(), k.input(0).shape(), k.input(1).shape());
    multiplier_.reset();
    if (conv_->is_empty() || conv_->is_matrix_product()) return;
    multiplier_ = std::make_unique<PatchMultiplier<T>>(conv_->window.height, conv_->window.width,
                                                       conv_->batch, conv_->channels, kLanes);
  }
  void compute(KernelContext& k) override {
    const Convolution& c = *conv_;
    const T *x = k.input(0).data<T>(), *filter = k.input(1).data<T>();
    T* y = k.output(0).template data<T>();
    if (multiplier_) {
      multiplier_->multiply(x, filter, c.outputs, y);
    } else {
      matrix_product(false, false, c.batch * c.num_positions(), c.outputs, c.patch_size(), x,
                     filter, y);
    }
  }

 private:
  std::unique_ptr<Convolution> conv_;
  std::unique_ptr<PatchMultiplier<T>> multiplier_;
};

// For stride 1, the gradient of the input is a convolution of dy with the rotated filter. Returns
// an axis of the window of this convolution.
WindowAxis gradient_window(const WindowAxis& axis) {
  WindowAxis gradient_axis = axis;
  gradient_axis.in = axis.out;
  gradient_axis.out = axis.in;
  gradient_axis.padding_before = (axis.size - 1) * axis.dilation - axis.padding_before;
  return gradient_axis;
}

// Sets rotated[cells - 1 - cell, output, channel] = filter[cell, channel, output].
template <typename T>
void rotate_filter(const Convolution& c, const T* filter, T* rotated) {
  const int64_t size = c.channels * c.outputs;
  parallel_for(c.window_cells(), [&](int64_t cell) {
    const T* from = filter + cell * size;
    T* to = rotated + (c.window_cells() - 1 - cell) * size;
    for (int64_t o = 0; o < c.outputs; ++o) {
      for (int64_t i = 0; i < c.channels; ++i) *to++ = from[i * c.outputs + o];
    }
  });
}

// Sets each cell of an image to the sum of the elements of `patches` [positions, window cells,
// channels] that cover the cell.
template <typename T>
void sum_overlapping_patches(const Convolution& c, const T* patches, T* image) {
  const int64_t row = c.window.width.size * c.channels;
  std::fill(image, image + c.image_size(), T(0));
  for (int64_t oy = 0; oy < c.window.height.out; ++oy) {
    for (int64_t ox = 0; ox < c.window.width.out; ++ox, patches += c.patch_size()) {
      visit_window(c.window, oy, ox, [&](int64_t y, int64_t x, int64_t ky, int64_t kx) {
        const T* from = patches + ky * row + kx * c.channels;
        T* to = image + (y * c.window.width.in + x) * c.channels;
        for_elements<T>(c.channels, [=](int64_t i) { to[i] += from[i]; });
      });
    }
  }
}

template <typename T>
class Conv2DBackpropInputKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void prepare(KernelContext& k) override {
    conv_ = std::make_unique<Convolution>(k.op(), k.output(0).shape(), k.input(1).shape());
    const Convolution& c = *conv_;
    multiplier_.reset();
    rotated_filter_.clear();
    patches_.clear();
    if (c.is_empty() || c.is_matrix_product()) return;
    const Window& w = c.window;
    if (w.height.stride == 1 && w.width.stride == 1) {
      multiplier_ = std::make_unique<PatchMultiplier<T>>(
          gradient_window(w.height), gradient_window(w.width), c.batch, c.outputs, kLanes);
      rotated_filter_.resize(static_cast<size_t>(k.input(1).num_elements()));
    } else {
      patches_.resize(static_cast<size_t>(std::min(kLanes, c.batch)));
      for (auto& buffer : patches_)
        buffer.resize(static_cast<size_t>(c.num_positions() * c.patch_size()));
    }
  }
  void compute(KernelContext& k) override {
    const Convolution& c = *conv_;
    const T *filter = k.input(1).data<T>(), *dy = k.input(2).data<T>();
    Tensor& out = k.output(0);
    T* dx = out.template data<T>();
    if (c.is_empty()) {
      std::fill(dx, dx + out.num_elements(), T(0));
    } else if (c.is_matrix_product()) {
      matrix_product(false, true, c.batch * c.num_positions(), c.channels, c.outputs, dy, filter,
                     dx);
    } else if (multiplier_) {
      rotate_filter(c, filter, rotated_filter_.data());
      multiplier_->multiply(dy, rotated_filter_.data(), c.channels, dx);
    } else {
      add_strided_images(filter, dy, dx);
    }
  }

 private:
  // For strides above 1: computes the gradients of the patches of each image, and sums them.
  void add_strided_images(const T* filter, const T* dy, T* dx) {
    const Convolution& c = *conv_;
    const auto lanes = static_cast<int64_t>(patches_.size());
    const int64_t work = c.num_positions() * c.patch_size() * c.outputs;
    for_each_cancellable_chunk(
        (c.batch + lanes - 1) / lanes, lanes * work, [&](int64_t first, int64_t last) {
          parallel_for(lanes, [&](int64_t lane) {
            T* patches = patches_[static_cast<size_t>(lane)].data();
            for (int64_t i = first * lanes + lane; i < std::min(c.batch, last * lanes);
                 i += lanes) {
              matrix_product(false, true, c.num_positions(), c.patch_size(), c.outputs,
                             dy + i * c.num_positions() * c.outputs, filter, patches);
              sum_overlapping_patches(c, patches, dx + i * c.image_size());
            }
          });
        });
  }
  std::unique_ptr<Convolution> conv_;
  std::unique_ptr<PatchMultiplier<T>> multiplier_;
  std::vector<T> rotated_filter_;
  std::vector<std::vector<T>> patches_;  // per lane
};

template <typename T>
class Conv2DBackpropFilterKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void prepare(KernelContext& k) override {
    conv_ = std::make_unique<Convolution>(k.op(), k.input(0).shape(), k.output(0).shape());
    const Convolution& c = *conv_;
    multiplier_.reset();
    sums_.clear();
    if (c.is_empty() || c.is_matrix_product()) return;
    multiplier_ = std::make_unique<PatchMultiplier<T>>(c.window.height, c.window.width, c.batch,
                                                       c.channels, kLanesForSums);
    sums_.resize(multiplier_->num_lanes());
    for (auto& sum : sums_) sum.resize(static_cast<size_t>(k.output(0).num_elements()));
  }
  void compute(KernelContext& k) override {
    const Convolution& c = *conv_;
    const T *x = k.input(0).data<T>(), *dy = k.input(2).data<T>();
    Tensor& out = k.output(0);
    T* dw = out.template data<T>();
    if (c.is_empty()) {
      std::fill(dw, dw + out.num_elements(), T(0));
    } else if (c.is_matrix_product()) {
      matrix_product(true, false, c.channels, c.outputs, c.batch * c.num_positions(), x, dy, dw);
    } else {
      multiplier_->multiply_transposed(x, dy, c.outputs, sums_);
      add_sums(out.num_elements(), dw);
    }
  }

 private:
  void add_sums(int64_t n, T* dw) const {
    std::copy(sums_[0].begin(), sums_[0].end(), dw);
    for (size_t lane = 1; lane < sums_.size(); ++lane) {
      const T* sum = sums_[lane].data();
      for_elements<T>(n, [=](int64_t i) { dw[i] += sum[i]; });
    }
  }
  std::unique_ptr<Convolution> conv_;
  std::unique_ptr<PatchMultiplier<T>> multiplier_;
  std::vector<std::vector<T>> sums_;  // per lane
};

Shape shape_of_rank(const Shape& shape, int rank, const char* name) {
  if (!shape.has_rank()) return Shape::unknown_of_rank(rank);
  if (shape.rank() != rank) {
    invalid_argument(name, " must have ", rank, " dimensions, but its shape is ", shape, ".");
  }
  return shape;
}

Shape convolution_shape(const Operation& op, const Shape& x, const Shape& filter) {
  const Shape image = shape_of_rank(x, 4, "The input of a convolution");
  const Shape weights = shape_of_rank(filter, 4, "The filter of a convolution");
  check_equal_depth(image, weights);
  const Window window(op, image, weights.dim(0), weights.dim(1));
  return Shape{image.dim(0), window.height.out, window.width.out, weights.dim(3)};
}

// Returns the shape that is the value of input i; unknown dimensions if the value is unknown.
Shape image_shape_from_value(ShapeContext& c, int i) {
  const Tensor* value = c.value(i);
  return value ? Shape(value->integers()) : Shape::unknown_of_rank(4);
}

void check_backprop(ShapeContext& c, const Shape& x, const Shape& filter) {
  const Shape expected = convolution_shape(c.op(), x, filter);
  const Shape actual = shape_of_rank(c.input(2), 4, "out_backprop");
  if (!expected.is_compatible_with(actual)) {
    invalid_argument("out_backprop has shape ", actual, ", but the convolution returns ", expected,
                     ".");
  }
}

void conv2d_shape(ShapeContext& c) {
  c.set_output(0, convolution_shape(c.op(), c.input(0), c.input(1)));
}

void backprop_input_shape(ShapeContext& c) {
  const Shape x = image_shape_from_value(c, 0);
  check_backprop(c, x, c.input(1));
  c.set_output(0, x);
}

void backprop_filter_shape(ShapeContext& c) {
  const Shape filter = image_shape_from_value(c, 1);
  check_backprop(c, c.input(0), filter);
  c.set_output(0, filter);
}

Output conv_input_gradient(Graph& g, const Operation& op, Output x, Output filter, Output dy) {
  return same_window_op(g, op, "Conv2DBackpropInput", {shape_of(g, x), filter, dy});
}

Output conv_filter_gradient(Graph& g, const Operation& op, Output x, Output filter, Output dy) {
  return same_window_op(g, op, "Conv2DBackpropFilter", {x, shape_of(g, filter), dy});
}

}  // namespace

#define RUNHOOKS_CONV2D_ATTRS \
  attr(kStrides).attr("use_cudnn_on_gpu: bool = true").RUNHOOKS_CONVOLUTION_ATTRS

RUNHOOKS_REGISTER_OP("Conv2D")
    .input("input: T, rank 4")
    .input("filter: T, rank 4")
    .output("output: T")
    .RUNHOOKS_CONV2D_ATTRS.shape(conv2d_shape)
    .kernel(kernel_by_type<Conv2DKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output x = op.input(0), filter = op.input(1);
      return {conv_input_gradient(g, op, x, filter, dy[0]),
              conv_filter_gradient(g, op, x, filter, dy[0])};
    })
    .endpoint("raw_ops.Conv2D")
    .summary("The convolution of images with filters.")
    .example("f[2,5,4,2] f[3,2,2,3] | strides=[1,1,1,1] padding=VALID")
    .example("f[2,5,4,2] f[3,3,2,3] | strides=[1,2,3,1] padding=SAME")
    .example("f[1,6,6,1] f[2,2,1,2] | strides=[1,1,1,1] padding=SAME dilations=[1,2,3,1]")
    .example("f[3,2,2,2] f[1,1,2,3] | strides=[1,1,1,1] padding=SAME");

RUNHOOKS_REGISTER_OP("Conv2DBackpropInput")
    .input("input_sizes: int32, vector, >= 0")
    .input("filter: T, rank 4")
    .input("out_backprop: T, rank 4")
    .output("output: T")
    .RUNHOOKS_CONV2D_ATTRS.shape(backprop_input_shape)
    .kernel(kernel_by_type<Conv2DBackpropInputKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output filter = op.input(1), inner_grad = op.input(2);
      return {Gradient(), conv_filter_gradient(g, op, dy[0], filter, inner_grad),
              same_window_op(g, op, "Conv2D", {dy[0], filter})};
    })
    .endpoint("raw_ops.Conv2DBackpropInput")
    .summary("The gradient of a convolution with respect to the images.")
    .example("i{2,5,4,2} f[3,2,2,3] f[2,3,3,3] | strides=[1,1,1,1] padding=VALID")
    .example("i{1,5,4,1} f[3,3,1,2] f[1,3,2,2] | strides=[1,2,2,1] padding=SAME");

RUNHOOKS_REGISTER_OP("Conv2DBackpropFilter")
    .input("input: T, rank 4")
    .input("filter_sizes: int32, vector, >= 0")
    .input("out_backprop: T, rank 4")
    .output("output: T")
    .RUNHOOKS_CONV2D_ATTRS.shape(backprop_filter_shape)
    .kernel(kernel_by_type<Conv2DBackpropFilterKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output x = op.input(0), inner_grad = op.input(2);
      return {conv_input_gradient(g, op, x, dy[0], inner_grad), Gradient(),
              same_window_op(g, op, "Conv2D", {x, dy[0]})};
    })
    .endpoint("raw_ops.Conv2DBackpropFilter")
    .summary("The gradient of a convolution with respect to the filter.")
    .example("f[2,5,4,2] i{3,2,2,3} f[2,3,3,3] | strides=[1,1,1,1] padding=VALID")
    .example("f[5,5,4,1] i{3,3,1,2} f[5,3,2,2] | strides=[1,2,2,1] padding=SAME");

}  // namespace runhooks
