// Convolution of images with filters, as products of matrices: the cells below the filter, a row for
// each of its places (the patches), times the filter [height * width * channels, outputs].
#include <algorithm>
#include <cstring>

#include "base/shared_work.h"
#include "ops/gradient_helpers.h"
#include "ops/matrix_product.h"
#include "ops/window.h"

namespace runhooks {

namespace {

using Grads = std::vector<Gradient>;
using Outputs = std::vector<Output>;

// A convolution of x [batch, ., ., channels] with a filter [., ., channels, outputs].
struct Convolution {
  Convolution(const Operation& op, const Shape& x, const Shape& filter)
      : window(op, x, filter.dim(0), filter.dim(1)),
        batch(x.dim(0)),
        channels(x.dim(3)),
        outputs(filter.dim(3)) {}
  int64_t places() const { return window.height.out * window.width.out; }
  int64_t patch() const { return window.height.size * window.width.size * channels; }
  int64_t cells() const { return window.height.in * window.width.in * channels; }
  // The patches are the image itself.
  bool is_plain() const {
    auto plain = [](const WindowAxis& a) { return a.size == 1 && a.stride == 1; };
    return plain(window.height) && plain(window.width);
  }

  Window window;
  int64_t batch, channels, outputs;
};

template <typename T>
void read_patches(const Convolution& c, const T* image, T* patches) {
  const auto bytes = static_cast<size_t>(c.channels) * sizeof(T);
  const int64_t row = c.window.width.size * c.channels;
  std::memset(patches, 0, static_cast<size_t>(c.places() * c.patch()) * sizeof(T));
  for (int64_t oy = 0; oy < c.window.height.out; ++oy) {
    for (int64_t ox = 0; ox < c.window.width.out; ++ox, patches += c.patch()) {
      visit_window(c.window, oy, ox, [&](int64_t y, int64_t x, int64_t ky, int64_t kx) {
        std::memcpy(patches + ky * row + kx * c.channels,
                    image + (y * c.window.width.in + x) * c.channels, bytes);
      });
    }
  }
}

// The other way round: each cell is the sum of what lies on it.
template <typename T>
void add_patches(const Convolution& c, const T* patches, T* image) {
  const int64_t row = c.window.width.size * c.channels;
  std::memset(image, 0, static_cast<size_t>(c.cells()) * sizeof(T));
  for (int64_t oy = 0; oy < c.window.height.out; ++oy) {
    for (int64_t ox = 0; ox < c.window.width.out; ++ox, patches += c.patch()) {
      visit_window(c.window, oy, ox, [&](int64_t y, int64_t x, int64_t ky, int64_t kx) {
        const T* from = patches + ky * row + kx * c.channels;
        T* to = image + (y * c.window.width.in + x) * c.channels;
        for (int64_t i = 0; i < c.channels; ++i) to[i] += from[i];
      });
    }
  }
}

// The images in blocks whose patches fit a cache, shared by lanes that have memory of their own.
// Which images are a block, and which blocks a lane, does not depend on the number of threads, so
// that sums are the same bits for any.
template <typename T>
class ImageBlocks {
 public:
  static constexpr int64_t kLanes = 4;

  void prepare(const Convolution& c) {
    constexpr int64_t kBytes = 512 << 10;
    const int64_t one = std::max<int64_t>(c.places() * c.patch(), 1);
    images_ = std::max<int64_t>(kBytes / static_cast<int64_t>(sizeof(T)) / one, 1);
    // also where there are few images there is something for each lane
    images_ = std::min(images_, std::max<int64_t>(c.batch / kLanes, 1));
    blocks_ = (c.batch + images_ - 1) / images_;
    patches_.resize(static_cast<size_t>(std::min(blocks_, kLanes)));
    for (auto& patches : patches_) patches.resize(static_cast<size_t>(images_ * one));
  }
  int64_t lanes() const { return static_cast<int64_t>(patches_.size()); }

  // run(lane, patches, first image, images) of each block; those of a lane one after the other.
  template <typename Run>
  void each(const Convolution& c, const Run& run) {
    struct Work {
      ImageBlocks* blocks;
      const Convolution* c;
      const Run* run;
    } work{this, &c, &run};
    share_work(
        patches_.size(), kernel_threads(),
        [](void* context, size_t lane) {
          const Work& w = *static_cast<Work*>(context);
          const ImageBlocks& b = *w.blocks;
          for (auto i = static_cast<int64_t>(lane); i < b.blocks_; i += kLanes) {
            const int64_t first = i * b.images_;
            (*w.run)(static_cast<int64_t>(lane), w.blocks->patches_[lane].data(), first,
                     std::min(b.images_, w.c->batch - first));
          }
        },
        &work);
  }

 private:
  int64_t images_ = 1, blocks_ = 0;
  std::vector<std::vector<T>> patches_;
};

// Reads the patches of some images; where they are the images themselves there is nothing to copy.
template <typename T>
const T* patches_of(const Convolution& c, const T* x, int64_t first, int64_t n, T* memory) {
  if (c.is_plain()) return x + first * c.cells();
  for (int64_t i = 0; i < n; ++i) {
    read_patches(c, x + (first + i) * c.cells(), memory + i * c.places() * c.patch());
  }
  return memory;
}

template <typename T>
class Conv2DKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void prepare(KernelContext& k) override {
    conv_ = std::make_unique<Convolution>(k.op(), k.input(0).shape(), k.input(1).shape());
    if (k.output(0).num_elements() > 0) blocks_.prepare(*conv_);
  }
  void compute(KernelContext& k) override {
    const Convolution& c = *conv_;
    if (k.output(0).num_elements() == 0) return;
    const T *x = k.input(0).data<T>(), *filter = k.input(1).data<T>();
    T* y = k.output(0).template data<T>();
    blocks_.each(c, [&](int64_t, T* memory, int64_t first, int64_t n) {
      const T* patches = patches_of(c, x, first, n, memory);
      matrix_product(false, false, n * c.places(), c.outputs, c.patch(), patches, filter,
                     y + first * c.places() * c.outputs);
    });
  }

 private:
  std::unique_ptr<Convolution> conv_;
  ImageBlocks<T> blocks_;
};

template <typename T>
class Conv2DBackpropInputKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void prepare(KernelContext& k) override {
    conv_ = std::make_unique<Convolution>(k.op(), k.output(0).shape(), k.input(1).shape());
    if (k.output(0).num_elements() > 0) blocks_.prepare(*conv_);
  }
  void compute(KernelContext& k) override {
    const Convolution& c = *conv_;
    if (k.output(0).num_elements() == 0) return;
    const T *filter = k.input(1).data<T>(), *dy = k.input(2).data<T>();
    T* dx = k.output(0).template data<T>();
    blocks_.each(c, [&](int64_t, T* memory, int64_t first, int64_t n) {
      T* patches = c.is_plain() ? dx + first * c.cells() : memory;
      matrix_product(false, true, n * c.places(), c.patch(), c.outputs,
                     dy + first * c.places() * c.outputs, filter, patches);
      for (int64_t i = 0; i < n && !c.is_plain(); ++i) {
        add_patches(c, patches + i * c.places() * c.patch(), dx + (first + i) * c.cells());
      }
    });
  }

 private:
  std::unique_ptr<Convolution> conv_;
  ImageBlocks<T> blocks_;
};

inline void add_product(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
  sgemm(true, false, m, n, k, a, b, c, true, kernel_threads());
}

inline void add_product(
    int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c) {
  dgemm(true, false, m, n, k, a, b, c, true, kernel_threads());
}

template <typename T>
class Conv2DBackpropFilterKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void prepare(KernelContext& k) override {
    conv_ = std::make_unique<Convolution>(k.op(), k.input(0).shape(), k.output(0).shape());
    is_empty_ = k.input(2).num_elements() == 0 || k.output(0).num_elements() == 0;
    if (is_empty_) return;
    blocks_.prepare(*conv_);
    sums_.resize(static_cast<size_t>(blocks_.lanes()));
    for (auto& sum : sums_) sum.resize(static_cast<size_t>(k.output(0).num_elements()));
  }
  void compute(KernelContext& k) override {
    const Convolution& c = *conv_;
    Tensor& out = k.output(0);
    T* dw = out.template data<T>();
    std::fill(dw, dw + out.num_elements(), T(0));
    if (is_empty_) return;
    const T *x = k.input(0).data<T>(), *dy = k.input(2).data<T>();
    for (auto& sum : sums_) std::fill(sum.begin(), sum.end(), T(0));
    blocks_.each(c, [&](int64_t lane, T* memory, int64_t first, int64_t n) {
      const T* patches = patches_of(c, x, first, n, memory);
      add_product(c.patch(), c.outputs, n * c.places(), patches,
                  dy + first * c.places() * c.outputs, sums_[static_cast<size_t>(lane)].data());
    });
    for (const auto& sum : sums_) {
      for (size_t i = 0; i < sum.size(); ++i) dw[i] += sum[i];
    }
  }

 private:
  std::unique_ptr<Convolution> conv_;
  ImageBlocks<T> blocks_;
  std::vector<std::vector<T>> sums_;
  bool is_empty_ = false;
};

// --- shapes

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
    invalid_argument("The depth of the input must be that of the filter: the input of shape ",
                     image, " has ", channels, " channels, the filter of shape ", weights,
                     " takes ", depth, ".");
  }
  const Window window(op, image, weights.dim(0), weights.dim(1));
  return Shape{image.dim(0), window.height.out, window.width.out, weights.dim(3)};
}

// A shape that is an input; unknown while its value is.
Shape given_shape(ShapeContext& c, int i) {
  const Tensor* value = c.value(i);
  return value ? Shape(value->integers()) : Shape::unknown_of_rank(4);
}

void check_backprop(ShapeContext& c, const Shape& x, const Shape& filter) {
  const Shape expected = convolved_shape(c.op(), x, filter);
  const Shape given = known_rank(c.input(2), 4, "out_backprop");
  if (!expected.is_compatible_with(given)) {
    invalid_argument("out_backprop has shape ", given, " where the convolution gives ", expected,
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

// --- gradients: each of the three is linear in two of them

Output like(Graph& g, const Operation& op, const char* type, const Outputs& inputs) {
  return g.op(type, inputs)
      .attr("strides", op.attr<std::vector<int64_t>>("strides"))
      .attr("padding", op.attr<std::string>("padding"))
      .attr("data_format", op.attr<std::string>("data_format"))
      .attr("dilations", op.attr<std::vector<int64_t>>("dilations"));
}

Output for_input(Graph& g, const Operation& op, Output x, Output filter, Output dy) {
  return like(g, op, "Conv2DBackpropInput", {shape_of(g, x), filter, dy});
}

Output for_filter(Graph& g, const Operation& op, Output x, Output filter, Output dy) {
  return like(g, op, "Conv2DBackpropFilter", {x, shape_of(g, filter), dy});
}

}  // namespace

#define RUNHOOKS_CONVOLUTION_ATTRS                  \
  attr(kStrides)                                    \
      .attr("use_cudnn_on_gpu: bool = true")        \
      .attr(kPadding)                               \
      .attr(kDataFormat)                            \
      .attr("dilations: list(int) >= 4, <= 4 = [1, 1, 1, 1]") \
      .attr("T: {float, double}")

RUNHOOKS_REGISTER_OP("Conv2D")
    .input("input: T, rank 4")
    .input("filter: T, rank 4")
    .output("output: T")
    .RUNHOOKS_CONVOLUTION_ATTRS.shape(conv2d_shape)
    .kernel(kernel_by_type<Conv2DKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output x = op.input(0), filter = op.input(1);
      return {for_input(g, op, x, filter, dy[0]), for_filter(g, op, x, filter, dy[0])};
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
    .RUNHOOKS_CONVOLUTION_ATTRS.shape(backprop_input_shape)
    .kernel(kernel_by_type<Conv2DBackpropInputKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output filter = op.input(1), inner = op.input(2);
      return {Gradient(), for_filter(g, op, dy[0], filter, inner),
              like(g, op, "Conv2D", {dy[0], filter})};
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
    .RUNHOOKS_CONVOLUTION_ATTRS.shape(backprop_filter_shape)
    .kernel(kernel_by_type<Conv2DBackpropFilterKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output x = op.input(0), inner = op.input(2);
      return {for_input(g, op, x, dy[0], inner), Gradient(), like(g, op, "Conv2D", {x, dy[0]})};
    })
    .endpoint("raw_ops.Conv2DBackpropFilter")
    .summary("The gradient of a convolution with respect to the filter.")
    .example("f[2,5,4,2] i{3,2,2,3} f[2,3,3,3] | strides=[1,1,1,1] padding=VALID")
    .example("f[5,5,4,1] i{3,3,1,2} f[5,3,2,2] | strides=[1,2,2,1] padding=SAME");

}  // namespace runhooks
