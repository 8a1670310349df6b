#include <algorithm>
#include <cmath>

#include "base/cancellation.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

// Maps a position of the resized image to the original, in TensorFlow's float arithmetic.
struct Side {
  int64_t from = 0, to = 0;
  float scale = 1;
  bool half_pixel = false;

  Side(const Operation& op, int64_t from_size, int64_t to_size) : from(from_size), to(to_size) {
    half_pixel = op.attr_bool("half_pixel_centers");
    const bool aligned = op.attr_bool("align_corners");
    if (aligned && half_pixel) {
      invalid_argument("If half_pixel_centers is True, align_corners must be False.");
    }
    scale = aligned && to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                              : static_cast<float>(from) / static_cast<float>(to);
  }
  // Two neighbouring positions and the interpolation weight of the second.
  struct Neighbours {
    int64_t lower, upper;
    float share;
  };
  Neighbours neighbours_of(int64_t i) const {
    const auto at = static_cast<float>(i);
    const float x = half_pixel ? (at + 0.5f) * scale - 0.5f : at * scale;
    const float below = std::floor(x);
    return {std::max(static_cast<int64_t>(below), int64_t{0}),
            std::min(static_cast<int64_t>(std::ceil(x)), from - 1), x - below};
  }
  int64_t nearest(int64_t i, bool aligned) const {
    const auto at = static_cast<float>(i);
    const float x = half_pixel ? (at + 0.5f) * scale : at * scale;
    const auto place = static_cast<int64_t>(aligned ? std::roundf(x) : std::floor(x));
    return std::max(std::min(place, from - 1), int64_t{0});
  }
};

struct Sizes {
  int64_t batch, height, width, channels;
  explicit Sizes(const Shape& x)
      : batch(x.dim(0)), height(x.dim(1)), width(x.dim(2)), channels(x.dim(3)) {}
  int64_t place(int64_t b, int64_t y, int64_t x) const {
    return ((b * height + y) * width + x) * channels;
  }
};

void check_not_empty(const Shape& image) {
  if (image.dim(1) == 0 || image.dim(2) == 0) {
    invalid_argument("Images of shape ", image, " have no pixels to resize.");
  }
}

void check_resized(const Shape& image, const Shape& resized) {
  if (image.dim(0) != resized.dim(0) || image.dim(3) != resized.dim(3)) {
    invalid_argument("Images of shape ", image, " cannot be resized to ", resized, ".");
  }
  check_not_empty(image);
}

// Calls visit(image, y, x, rows, columns) for each pixel of the resized images.
template <typename Visit>
void each_resized(const Operation& op, const Sizes& from, const Sizes& to, const Visit& visit) {
  const Side rows(op, from.height, to.height), columns(op, from.width, to.width);
  for (int64_t b = 0; b < to.batch; ++b) {
    for (int64_t y = 0; y < to.height; ++y) {
      check_cancelled_throttled();
      for (int64_t x = 0; x < to.width; ++x) visit(b, y, x, rows, columns);
    }
  }
}

template <typename T>
class ResizeBilinearKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    check_not_empty(c.input(0).shape());
    const Sizes from(c.input(0).shape()), to(c.output(0).shape());
    const T* image = c.input(0).data<T>();
    auto* out = c.output(0).data<float>();
    each_resized(
        c.op(), from, to,
        [&](int64_t b, int64_t y, int64_t x, const Side& rows, const Side& columns) {
          const auto v = rows.neighbours_of(y), h = columns.neighbours_of(x);
          for (int64_t k = 0; k < to.channels; ++k) {
            const auto at = [&](int64_t row, int64_t column) {
              return static_cast<float>(image[from.place(b, row, column) + k]);
            };
            const float top = interpolate(at(v.lower, h.lower), at(v.lower, h.upper), h.share);
            const float low = interpolate(at(v.upper, h.lower), at(v.upper, h.upper), h.share);
            out[to.place(b, y, x) + k] = interpolate(top, low, v.share);
          }
        });
  }

 private:
  static float interpolate(float a, float b, float share) { return a + (b - a) * share; }
};

template <typename T>
class ResizeBilinearGradKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    check_resized(c.output(0).shape(), c.input(0).shape());
    const Sizes from(c.output(0).shape()), to(c.input(0).shape());
    const auto* grad = c.input(0).data<float>();
    T* out = c.output(0).template data<T>();
    std::fill(out, out + c.output(0).num_elements(), T(0));
    each_resized(c.op(), from, to,
                 [&](int64_t b, int64_t y, int64_t x, const Side& rows, const Side& columns) {
                   const auto v = rows.neighbours_of(y), h = columns.neighbours_of(x);
                   for (int64_t k = 0; k < to.channels; ++k) {
                     const float dy = grad[to.place(b, y, x) + k];
                     const auto give = [&](int64_t row, int64_t column, float share) {
                       out[from.place(b, row, column) + k] += T(dy * share);
                     };
                     give(v.lower, h.lower, (1 - v.share) * (1 - h.share));
                     give(v.lower, h.upper, (1 - v.share) * h.share);
                     give(v.upper, h.lower, v.share * (1 - h.share));
                     give(v.upper, h.upper, v.share * h.share);
                   }
                 });
  }
};

template <typename T, bool kIsGrad>
class ResizeNearestKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& small = (kIsGrad ? c.output(0) : c.input(0)).shape();
    const Shape& large = (kIsGrad ? c.input(0) : c.output(0)).shape();
    check_resized(small, large);
    const Sizes from(small), to(large);
    const bool aligned = c.op().attr_bool("align_corners");
    const T* in = c.input(0).data<T>();
    T* out = c.output(0).template data<T>();
    if (kIsGrad) std::fill(out, out + c.output(0).num_elements(), T(0));
    each_resized(c.op(), from, to,
                 [&](int64_t b, int64_t y, int64_t x, const Side& rows, const Side& columns) {
                   const int64_t near =
                       from.place(b, rows.nearest(y, aligned), columns.nearest(x, aligned));
                   const int64_t far = to.place(b, y, x);
                   for (int64_t k = 0; k < to.channels; ++k) {
                     if (kIsGrad) {
                       out[near + k] += in[far + k];
                     } else {
                       out[far + k] = in[near + k];
                     }
                   }
                 });
  }
};
template <typename T>
using NearestKernel = ResizeNearestKernel<T, false>;
template <typename T>
using NearestGradKernel = ResizeNearestKernel<T, true>;

void resize_shape(ShapeContext& c) {
  const Shape image = c.with_rank(0, 4);
  const Tensor* size = c.value(1);
  if (!c.with_rank(1, 1).is_compatible_with(Shape{2})) {
    invalid_argument("size must be the height and width, a vector of 2; got shape ", c.input(1),
                     ".");
  }
  Shape out{image.dim(0), -1, -1, image.dim(3)};
  for (int i = 0; size && i < 2; ++i) {
    const int64_t n = size->integers()[static_cast<size_t>(i)];
    if (n < 1) invalid_argument("output dimensions must be positive, not ", n, ".");
    out.set_dim(i + 1, n);
  }
  c.set_output(0, out);
}

Grads bilinear_gradient(Graph& g, Operation& op, const Outputs& dy) {
  if (!is_floating(op.input(0).dtype())) return {Gradient(), Gradient()};
  return {g.op("ResizeBilinearGrad", {dy[0], op.input(0)})
              .attr("align_corners", op.attr_bool("align_corners"))
              .attr("half_pixel_centers", op.attr_bool("half_pixel_centers")),
          Gradient()};
}

Grads nearest_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output shape = shape_of(g, op.input(0));
  const Output size = g.op("Slice", {shape, g.int_vector({1}), g.int_vector({2})});
  return {g.op("ResizeNearestNeighborGrad", {dy[0], size})
              .attr("align_corners", op.attr_bool("align_corners"))
              .attr("half_pixel_centers", op.attr_bool("half_pixel_centers")),
          Gradient()};
}

// Hue in [0, 1), saturation and value of red, green and blue in [0, 1].
void hsv_of(const float rgb[3], float hsv[3]) {
  const float most = std::max({rgb[0], rgb[1], rgb[2]});
  const float range = most - std::min({rgb[0], rgb[1], rgb[2]});
  hsv[2] = most;
  hsv[1] = most > 0 ? range / most : 0;
  if (range <= 0) {
    hsv[0] = 0;
    return;
  }
  const float norm = 1.0f / (6.0f * range);
  float hue = 0;
  if (rgb[0] == most) {
    hue = norm * (rgb[1] - rgb[2]);
  } else if (rgb[1] == most) {
    hue = norm * (rgb[2] - rgb[0]) + 2.0f / 6.0f;
  } else {
    hue = norm * (rgb[0] - rgb[1]) + 4.0f / 6.0f;
  }
  hsv[0] = hue < 0 ? hue + 1 : hue;
}

void rgb_of(const float hsv[3], float rgb[3]) {
  const float chroma = hsv[1] * hsv[2], least = hsv[2] - chroma, dh = hsv[0] * 6;
  const auto clamped = [](float x) { return std::max(0.0f, std::min(1.0f, x)); };
  rgb[0] = clamped(std::fabs(dh - 3) - 1) * chroma + least;
  rgb[1] = clamped(2 - std::fabs(dh - 2)) * chroma + least;
  rgb[2] = clamped(2 - std::fabs(dh - 4)) * chroma + least;
}

struct ToHsv {
  static void pixel(const float in[3], float, float out[3]) { hsv_of(in, out); }
};
struct ToRgb {
  static void pixel(const float in[3], float, float out[3]) { rgb_of(in, out); }
};
struct TurnHue {
  static void pixel(const float in[3], float delta, float out[3]) {
    float hsv[3];
    hsv_of(in, hsv);
    hsv[0] += delta;
    hsv[0] -= std::floor(hsv[0]);
    rgb_of(hsv, out);
  }
};
struct ScaleSaturation {
  static void pixel(const float in[3], float scale, float out[3]) {
    float hsv[3];
    hsv_of(in, hsv);
    hsv[1] = std::max(0.0f, std::min(1.0f, hsv[1] * scale));
    rgb_of(hsv, out);
  }
};

// Transforms each pixel; the optional input 1 is a scalar parameter.
template <typename How>
class PixelKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const float number = c.num_inputs() > 1 ? *c.input(1).data<float>() : 0;
    const auto* in = c.input(0).data<float>();
    auto* out = c.output(0).data<float>();
    for (int64_t i = 0; i < c.input(0).num_elements(); i += 3) How::pixel(in + i, number, out + i);
  }
};

void pixels_shape(ShapeContext& c) {
  const Shape& x = c.input(0);
  if (x.has_rank() && (x.rank() < 1 || !Shape{x.dim(x.rank() - 1)}.is_compatible_with(Shape{3}))) {
    invalid_argument(c.op().type(), ": input must have 3 channels but its shape is ", x, ".");
  }
  unchanged_shape(c);
}

// Scales the distance to the mean of each channel of each image.
class AdjustContrastKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const int64_t channels = shape.dim(shape.rank() - 1);
    const int64_t pixels = shape.dim(shape.rank() - 2) * shape.dim(shape.rank() - 3);
    const float factor = *c.input(1).data<float>();
    const auto* in = c.input(0).data<float>();
    auto* out = c.output(0).data<float>();
    for (int64_t end = c.input(0).num_elements(), at = 0; at < end; at += pixels * channels) {
      for (int64_t k = at; k < at + channels; ++k) {
        double sum = 0;
        for (int64_t i = 0; i < pixels; ++i) sum += in[k + i * channels];
        const auto mean = static_cast<float>(sum / static_cast<double>(pixels));
        for (int64_t i = 0; i < pixels; ++i) {
          out[k + i * channels] = (in[k + i * channels] - mean) * factor + mean;
        }
      }
    }
  }
};

struct Response {
  explicit Response(const Operation& op)
      : radius(std::clamp(op.attr_int("depth_radius"), -kMaxOffset, kMaxOffset)),
        bias(op.attr<float>("bias")),
        alpha(op.attr<float>("alpha")),
        beta(op.attr<float>("beta")) {}
  // Larger than any number of channels, and small enough not to overflow in sums.
  static constexpr int64_t kMaxOffset = int64_t{1} << 60;
  int64_t radius;
  float bias, alpha, beta;

  int64_t first(int64_t k) const { return std::max(int64_t{0}, k - radius); }
  int64_t last(int64_t k, int64_t depth) const { return std::min(depth, k + radius + 1); }
  float norm(const float* x, int64_t k, int64_t depth) const {
    float sum = 0;
    for (int64_t j = first(k); j < last(k, depth); ++j) sum += x[j] * x[j];
    return bias + alpha * sum;
  }
};

class LrnKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Response response(c.op());
    const int64_t depth = c.input(0).shape().dim(3);
    const auto* x = c.input(0).data<float>();
    auto* y = c.output(0).data<float>();
    for (const float* end = x + c.input(0).num_elements(); x < end; x += depth, y += depth) {
      for (int64_t k = 0; k < depth; ++k) {
        y[k] = x[k] * std::pow(response.norm(x, k, depth), -response.beta);
      }
    }
  }
};

class LrnGradKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Response response(c.op());
    const int64_t depth = c.input(0).shape().dim(3), n = c.input(0).num_elements();
    const auto *dy = c.input(0).data<float>(), *x = c.input(1).data<float>();
    const auto* y = c.input(2).data<float>();
    auto* dx = c.output(0).data<float>();
    std::fill(dx, dx + n, 0.0f);
    for (int64_t at = 0; at < n; at += depth) {
      for (int64_t j = 0; j < depth; ++j) {
        const float norm = response.norm(x + at, j, depth);
        for (int64_t k = response.first(j); k < response.last(j, depth); ++k) {
          float slope = -2 * response.alpha * response.beta * x[at + k] * y[at + j] / norm;
          if (k == j) slope += std::pow(norm, -response.beta);
          dx[at + k] += slope * dy[at + j];
        }
      }
    }
  }
};

Grads lrn_gradient(Graph& g, Operation& op, const Outputs& dy) {
  return {g.op("LRNGrad", {dy[0], op.input(0), op.output(0)})
              .attr("depth_radius", op.attr_int("depth_radius"))
              .attr("bias", op.attr<float>("bias"))
              .attr("alpha", op.attr<float>("alpha"))
              .attr("beta", op.attr<float>("beta"))};
}

}  // namespace

RUNHOOKS_REGISTER_OP("ResizeBilinear")
    .input("images: T, rank 4")
    .input("size: int32, vector, >= 1")
    .output("resized_images: float")
    .attr("T: {float, double, int32, int64, uint8}")
    .attr("align_corners: bool = false")
    .attr("half_pixel_centers: bool = false")
    .shape(resize_shape)
    .kernel(kernel_by_type<ResizeBilinearKernel, float, double, int32_t, int64_t, uint8_t>())
    .gradient(bilinear_gradient)
    .r("image.resize_bilinear(images, size, align_corners = FALSE, name = NULL, "
       "half_pixel_centers = FALSE)")
    .summary("Resizes images by bilinear interpolation.")
    .example("f[2,3,2,1] i{4,5}");

RUNHOOKS_REGISTER_OP("ResizeBilinearGrad")
    .input("grads: float, rank 4")
    .input("original_image: T, rank 4")
    .output("output: T")
    .attr("T: {float, double}")
    .attr("align_corners: bool = false")
    .attr("half_pixel_centers: bool = false")
    .shape([](ShapeContext& c) { c.set_output(0, c.input(1)); })
    .kernel(kernel_by_type<ResizeBilinearGradKernel, float, double>())
    .not_differentiable()
    .endpoint("raw_ops.ResizeBilinearGrad")
    .summary("The gradient of ResizeBilinear.")
    .example("e[2,4,5,1] f[2,3,2,1]");

RUNHOOKS_REGISTER_OP("ResizeNearestNeighbor")
    .input("images: T, rank 4")
    .input("size: int32, vector, >= 1")
    .output("resized_images: T")
    .attr("T: {float, double, int32, int64, uint8}")
    .attr("align_corners: bool = false")
    .attr("half_pixel_centers: bool = false")
    .shape(resize_shape)
    .kernel(kernel_by_type<NearestKernel, float, double, int32_t, int64_t, uint8_t>())
    .gradient(nearest_gradient)
    .r("image.resize_nearest_neighbor(images, size, align_corners = FALSE, name = NULL, "
       "half_pixel_centers = FALSE)")
    .summary("Resizes images by nearest-neighbor interpolation.")
    .example("f[2,3,2,1] i{4,5}");

RUNHOOKS_REGISTER_OP("ResizeNearestNeighborGrad")
    .input("grads: T, rank 4")
    .input("size: int32, vector, >= 1")
    .output("output: T")
    .attr("T: {float, double}")
    .attr("align_corners: bool = false")
    .attr("half_pixel_centers: bool = false")
    .shape(resize_shape)
    .kernel(kernel_by_type<NearestGradKernel, float, double>())
    .not_differentiable()
    .endpoint("raw_ops.ResizeNearestNeighborGrad")
    .summary("The gradient of ResizeNearestNeighbor.")
    .example("f[2,4,5,1] i{3,2}");

#define RUNHOOKS_PIXEL_OP(type, How)         \
  RUNHOOKS_REGISTER_OP(type)                 \
      .input("images: float")                \
      .output("output: float")               \
      .shape(pixels_shape)                   \
      .kernel(kernel_of<PixelKernel<How>>()) \
      .not_differentiable()

RUNHOOKS_PIXEL_OP("RGBToHSV", ToHsv)
    .endpoint("image.rgb_to_hsv")
    .summary("Converts RGB to HSV.")
    .example("e[2,2,3]");
RUNHOOKS_PIXEL_OP("HSVToRGB", ToRgb)
    .endpoint("image.hsv_to_rgb")
    .summary("Converts HSV to RGB.")
    .example("e[2,2,3]");
RUNHOOKS_PIXEL_OP("AdjustHue", TurnHue)
    .input("delta: float, scalar")
    .endpoint("raw_ops.AdjustHue")
    .summary("Rotates the hue of images.")
    .example("e[2,2,3] e[]");
RUNHOOKS_PIXEL_OP("AdjustSaturation", ScaleSaturation)
    .input("scale: float, scalar")
    .endpoint("raw_ops.AdjustSaturation")
    .summary("Scales the saturation of images.")
    .example("e[2,2,3] e[]");

RUNHOOKS_REGISTER_OP("AdjustContrastv2")
    .input("images: float, rank >= 3")
    .input("contrast_factor: float, scalar")
    .output("output: float")
    .shape(unchanged_shape)
    .kernel(kernel_of<AdjustContrastKernel>())
    .not_differentiable()
    .endpoint("raw_ops.AdjustContrastv2")
    .summary("Scales the contrast of images.")
    .example("e[2,2,3,1] e[]");

RUNHOOKS_REGISTER_OP("LRN")
    .input("input: T, rank 4")
    .output("output: T")
    .attr("depth_radius: int = 5")
    .attr("bias: float = 1")
    .attr("alpha: float = 1")
    .attr("beta: float = 0.5")
    .attr("T: {float} = DT_FLOAT")
    .shape(unchanged_shape)
    .kernel(kernel_of<LrnKernel>())
    .gradient(lrn_gradient)
    .endpoint("nn.lrn")
    .endpoint("nn.local_response_normalization")
    .summary("Local response normalization across channels.")
    .example("e[1,2,2,5] | depth_radius=1");

RUNHOOKS_REGISTER_OP("LRNGrad")
    .input("input_grads: T, rank 4")
    .input("input_image: T, rank 4")
    .input("output_image: T, rank 4")
    .output("output: T")
    .attr("depth_radius: int = 5")
    .attr("bias: float = 1")
    .attr("alpha: float = 1")
    .attr("beta: float = 0.5")
    .attr("T: {float} = DT_FLOAT")
    .shape([](ShapeContext& c) {
      c.set_output(0, c.input(0).merge_with(c.input(1)).merge_with(c.input(2)));
    })
    .kernel(kernel_of<LrnGradKernel>())
    .not_differentiable()
    .endpoint("raw_ops.LRNGrad")
    .summary("The gradient of LRN.")
    .example("e[1,2,2,5] e[1,2,2,5] e[1,2,2,5]");

}  // namespace runhooks
