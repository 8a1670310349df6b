// Convolution as a matrix product: patches (the image cells under the filter, one row per window
// position) times the filter [height * width * channels, outputs].
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
  int64_t places() const { return window.height.out * window.width.out; }
  int64_t cells() const { return window.height.size * window.width.size; }
  int64_t patch() const { return cells() * channels; }
  int64_t image() const { return window.height.in * window.width.in * channels; }
  bool is_empty() const { return batch * places() * outputs * patch() * image() == 0; }
  // A 1 x 1 filter with stride 1: the patches are the image itself.
  bool is_plain() const {
    auto plain = [](const WindowAxis& a) { return a.size == 1 && a.stride == 1; };
    return plain(window.height) && plain(window.width);
  }

  Window window;
  int64_t batch, channels, outputs;
};

// Patches, and a buffer for each lane that reads them.
template <typename T>
class PatchReader {
 public:
  PatchReader(const WindowAxis& height,
              const WindowAxis& width,
              int64_t batch,
              int64_t channels,
              int64_t most_lanes)
      : patches_(height, width, batch, channels), cells_(height.size * width.size * channels) {
    memory_.resize(static_cast<size_t>(std::min(most_lanes, patches_.num_chunks())));
    for (auto& memory : memory_) memory.resize(static_cast<size_t>(patches_.memory()));
  }
  size_t num_lanes() const { return memory_.size(); }

  // y [positions, outputs] = patches of x times the filter.
  void multiply(const T* x, const T* filter, int64_t outputs, T* y) {
    each(x, outputs, [&](size_t, const Patches::Chunk& piece, const T* from, bool) {
      kernels().gemm->of<T>().gathered(patches_.by_position(piece), outputs, from, filter,
                                       y + piece.place * outputs, false);
    });
  }
  // Accumulates transpose(patches of x) times dy [positions, outputs], one sum per lane.
  void multiply_turned(const T* x,
                       const T* dy,
                       int64_t outputs,
                       std::vector<std::vector<T>>& sums) {
    each(x, outputs, [&](size_t lane, const Patches::Chunk& piece, const T* from, bool is_first) {
      kernels().gemm->of<T>().gathered(patches_.by_cell(piece), outputs, from,
                                       dy + piece.place * outputs, sums[lane].data(), !is_first);
    });
  }

 private:
  template <typename Run>
  void each(const T* x, int64_t outputs, const Run& run) {
    patches_.each_chunk(static_cast<int64_t>(num_lanes()), cells_ * outputs,
                        [&](int64_t number, const Patches::Chunk& piece, bool is_first) {
                          const auto lane = static_cast<size_t>(number);
                          run(lane, piece, patches_.read(piece, x, memory_[lane].data()), is_first);
                        });
  }
  Patches patches_;
  int64_t cells_;  // per window position
  std::vector<std::vector<T>> memory_;
};

constexpr int64_t kLanes = 8;
constexpr int64_t kLanesWithSums = 4;  // each has a buffer of the filter's size

template <typename T>
class Conv2DKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void prepare(KernelContext& k) override {
    conv_ = std::make_unique<Convolution>(k.op(), k.input(0).shape(), k.input(1).shape());
    reader_.reset();
    if (conv_->is_empty() || conv_->is_plain()) return;
    reader_ = std::make_unique<PatchReader<T>>(conv_->window.height, conv_->window.width,
                                               conv_->batch, conv_->channels, kLanes);
  }
  void compute(KernelContext& k) override {
    const Convolution& c = *conv_;
    const T *x = k.input(0).data<T>(), *filter = k.input(1).data<T>();
    T* y = k.output(0).template data<T>();
    if (reader_) {
      reader_->multiply(x, filter, c.outputs, y);
    } else {
      matrix_product(false, false, c.batch * c.places(), c.outputs, c.patch(), x, filter, y);
    }
  }

 private:
  std::unique_ptr<Convolution> conv_;
  std::unique_ptr<PatchReader<T>> reader_;
};

// For stride 1, the gradient is itself a convolution: of dy with the rotated filter, over this
// window.
WindowAxis gradient_window(const WindowAxis& axis) {
  WindowAxis back = axis;
  back.in = axis.out;
  back.out = axis.in;
  back.before = (axis.size - 1) * axis.dilation - axis.before;
  return back;
}

// turned[cells - 1 - cell, output, channel] = filter[cell, channel, output].
template <typename T>
void turn_filter(const Convolution& c, const T* filter, T* turned) {
  const int64_t size = c.channels * c.outputs;
  parallel_for(c.cells(), [&](int64_t cell) {
    const T* from = filter + cell * size;
    T* to = turned + (c.cells() - 1 - cell) * size;
    for (int64_t o = 0; o < c.outputs; ++o) {
      for (int64_t i = 0; i < c.channels; ++i) *to++ = from[i * c.outputs + o];
    }
  });
}

// image[cell] = sum of the patch elements [positions, window cells, channels] that cover the cell.
template <typename T>
void add_patches(const Convolution& c, const T* patches, T* image) {
  const int64_t row = c.window.width.size * c.channels;
  std::fill(image, image + c.image(), T(0));
  for (int64_t oy = 0; oy < c.window.height.out; ++oy) {
    for (int64_t ox = 0; ox < c.window.width.out; ++ox, patches += c.patch()) {
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
    reader_.reset();
    filter_.clear();
    patches_.clear();
    if (c.is_empty() || c.is_plain()) return;
    const Window& w = c.window;
    if (w.height.stride == 1 && w.width.stride == 1) {
      reader_ = std::make_unique<PatchReader<T>>(
          gradient_window(w.height), gradient_window(w.width), c.batch, c.outputs, kLanes);
      filter_.resize(static_cast<size_t>(k.input(1).num_elements()));
    } else {
      patches_.resize(static_cast<size_t>(std::min(kLanes, c.batch)));
      for (auto& memory : patches_) memory.resize(static_cast<size_t>(c.places() * c.patch()));
    }
  }
  void compute(KernelContext& k) override {
    const Convolution& c = *conv_;
    const T *filter = k.input(1).data<T>(), *dy = k.input(2).data<T>();
    Tensor& out = k.output(0);
    T* dx = out.template data<T>();
    if (c.is_empty()) {
      std::fill(dx, dx + out.num_elements(), T(0));
    } else if (c.is_plain()) {
      matrix_product(false, true, c.batch * c.places(), c.channels, c.outputs, dy, filter, dx);
    } else if (reader_) {
      turn_filter(c, filter, filter_.data());
      reader_->multiply(dy, filter_.data(), c.channels, dx);
    } else {
      add_images(filter, dy, dx);
    }
  }

 private:
  // For windows that skip cells (stride above 1).
  void add_images(const T* filter, const T* dy, T* dx) {
    const Convolution& c = *conv_;
    const auto lanes = static_cast<int64_t>(patches_.size());
    const int64_t work = c.places() * c.patch() * c.outputs;
    for_each_cancellable_chunk(
        (c.batch + lanes - 1) / lanes, lanes * work, [&](int64_t first, int64_t last) {
          parallel_for(lanes, [&](int64_t lane) {
            T* patches = patches_[static_cast<size_t>(lane)].data();
            for (int64_t i = first * lanes + lane; i < std::min(c.batch, last * lanes);
                 i += lanes) {
              matrix_product(false, true, c.places(), c.patch(), c.outputs,
                             dy + i * c.places() * c.outputs, filter, patches);
              add_patches(c, patches, dx + i * c.image());
            }
          });
        });
  }
  std::unique_ptr<Convolution> conv_;
  std::unique_ptr<PatchReader<T>> reader_;
  std::vector<T> filter_;                // rotated
  std::vector<std::vector<T>> patches_;  // per lane
};

template <typename T>
class Conv2DBackpropFilterKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void prepare(KernelContext& k) override {
    conv_ = std::make_unique<Convolution>(k.op(), k.input(0).shape(), k.output(0).shape());
    const Convolution& c = *conv_;
    reader_.reset();
    sums_.clear();
    if (c.is_empty() || c.is_plain()) return;
    reader_ = std::make_unique<PatchReader<T>>(c.window.height, c.window.width, c.batch, c.channels,
                                               kLanesWithSums);
    sums_.resize(reader_->num_lanes());
    for (auto& sum : sums_) sum.resize(static_cast<size_t>(k.output(0).num_elements()));
  }
  void compute(KernelContext& k) override {
    const Convolution& c = *conv_;
    const T *x = k.input(0).data<T>(), *dy = k.input(2).data<T>();
    Tensor& out = k.output(0);
    T* dw = out.template data<T>();
    if (c.is_empty()) {
      std::fill(dw, dw + out.num_elements(), T(0));
    } else if (c.is_plain()) {
      matrix_product(true, false, c.channels, c.outputs, c.batch * c.places(), x, dy, dw);
    } else {
      reader_->multiply_turned(x, dy, c.outputs, sums_);
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
  std::unique_ptr<PatchReader<T>> reader_;
  std::vector<std::vector<T>> sums_;  // per lane
};

Shape known_rank(const Shape& shape, int rank, const char* what) {
  if (!shape.has_rank()) return Shape::unknown_of_rank(rank);
  if (shape.rank() != rank) {
    invalid_argument(what, " must have ", rank, " dimensions, but its shape is ", shape, ".");
  }
  return shape;
}

Shape convolved_shape(const Operation& op, const Shape& x, const Shape& filter) {
  const Shape image = known_rank(x, 4, "The input of a convolution");
  const Shape weights = known_rank(filter, 4, "The filter of a convolution");
  const int64_t channels = image.dim(3), depth = weights.dim(2);
  if (channels >= 0 && depth >= 0 && channels != depth) {
    invalid_argument("The input and the filter must have equal depth: the input of shape ", image,
                     " has ", channels, " channels, the filter of shape ", weights, " expects ",
                     depth, ".");
  }
  const Window window(op, image, weights.dim(0), weights.dim(1));
  return Shape{image.dim(0), window.height.out, window.width.out, weights.dim(3)};
}

// The shape in input i; unknown dimensions if its value is unknown.
Shape given_shape(ShapeContext& c, int i) {
  const Tensor* value = c.value(i);
  return value ? Shape(value->integers()) : Shape::unknown_of_rank(4);
}

void check_backprop(ShapeContext& c, const Shape& x, const Shape& filter) {
  const Shape expected = convolved_shape(c.op(), x, filter);
  const Shape given = known_rank(c.input(2), 4, "out_backprop");
  if (!expected.is_compatible_with(given)) {
    invalid_argument("out_backprop has shape ", given, ", but the convolution returns ", expected,
                     ".");
  }
}

void conv2d_shape(ShapeContext& c) {
  c.set_output(0, convolved_shape(c.op(), c.input(0), c.input(1)));
}

void backprop_input_shape(ShapeContext& c) {
  const Shape x = given_shape(c, 0);
  check_backprop(c, x, c.input(1));
  c.set_output(0, x);
}

void backprop_filter_shape(ShapeContext& c) {
  const Shape filter = given_shape(c, 1);
  check_backprop(c, c.input(0), filter);
  c.set_output(0, filter);
}

Output conv_input_gradient(Graph& g, const Operation& op, Output x, Output filter, Output dy) {
  return windowed(g, op, "Conv2DBackpropInput", {shape_of(g, x), filter, dy});
}

Output conv_filter_gradient(Graph& g, const Operation& op, Output x, Output filter, Output dy) {
  return windowed(g, op, "Conv2DBackpropFilter", {x, shape_of(g, filter), dy});
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
      const Output filter = op.input(1), inner = op.input(2);
      return {Gradient(), conv_filter_gradient(g, op, dy[0], filter, inner),
              windowed(g, op, "Conv2D", {dy[0], filter})};
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
      const Output x = op.input(0), inner = op.input(2);
      return {conv_input_gradient(g, op, x, dy[0], inner), Gradient(),
              windowed(g, op, "Conv2D", {x, dy[0]})};
    })
    .endpoint("raw_ops.Conv2DBackpropFilter")
    .summary("The gradient of a convolution with respect to the filter.")
    .example("f[2,5,4,2] i{3,2,2,3} f[2,3,3,3] | strides=[1,1,1,1] padding=VALID")
    .example("f[5,5,4,1] i{3,3,1,2} f[5,3,2,2] | strides=[1,2,2,1] padding=SAME");

}  // namespace runhooks
