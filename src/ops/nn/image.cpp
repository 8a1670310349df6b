#include <algorithm>
#include <cmath>

#include "base/cancellation.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

// Maps positions of a resized axis (height or width) to the original axis. Uses float arithmetic
// like TensorFlow.
struct ResizedAxis {
  int64_t from = 0, to = 0;
  float scale = 1;
  bool half_pixel = false;

  ResizedAxis(const Operation& op, int64_t from_size, int64_t to_size)
      : from(from_size), to(to_size) {
    half_pixel = op.attr_bool("half_pixel_centers");
    const bool aligned = op.attr_bool("align_corners");
    if (aligned && half_pixel) {
      invalid_argument("If half_pixel_centers is True, align_corners must be False.");
    }
    scale = aligned && to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                              : static_cast<float>(from) / static_cast<float>(to);
  }
  // Two adjacent positions and the weight of the second.
  struct Interpolation {
    int64_t lower, upper;
    float weight;
  };
  Interpolation interpolation_at(int64_t i) const {
    const auto position = static_cast<float>(i);
    const float x = half_pixel ? (position + 0.5f) * scale - 0.5f : position * scale;
    const float lower_position = std::floor(x);
    return {std::max(static_cast<int64_t>(lower_position), int64_t{0}),
            std::min(static_cast<int64_t>(std::ceil(x)), from - 1), x - lower_position};
  }
  int64_t nearest(int64_t i, bool aligned) const {
    const auto position = static_cast<float>(i);
    const float x = half_pixel ? (position + 0.5f) * scale : position * scale;
    const auto index = static_cast<int64_t>(aligned ? std::roundf(x) : std::floor(x));
    return std::max(std::min(index, from - 1), int64_t{0});
  }
};

struct Sizes {
  int64_t batch, height, width, channels;
  explicit Sizes(const Shape& x)
      : batch(x.dim(0)), height(x.dim(1)), width(x.dim(2)), channels(x.dim(3)) {}
  int64_t offset(int64_t b, int64_t y, int64_t x) const {
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

// Calls visit(image, y, x, rows, columns) for each pixel of the resized images. `rows` and
// `columns` map y and x to the original image.
template <typename Visit>
void for_each_resized_pixel(const Operation& op,
                            const Sizes& from,
                            const Sizes& to,
                            const Visit& visit) {
  const ResizedAxis rows(op, from.height, to.height), columns(op, from.width, to.width);
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
    for_each_resized_pixel(
        c.op(), from, to,
        [&](int64_t b, int64_t y, int64_t x, const ResizedAxis& rows, const ResizedAxis& columns) {
          const auto v = rows.interpolation_at(y), h = columns.interpolation_at(x);
          for (int64_t k = 0; k < to.channels; ++k) {
            const auto pixel = [&](int64_t row, int64_t column) {
              return static_cast<float>(image[from.offset(b, row, column) + k]);
            };
            const float top =
                interpolate(pixel(v.lower, h.lower), pixel(v.lower, h.upper), h.weight);
            const float bottom =
                interpolate(pixel(v.upper, h.lower), pixel(v.upper, h.upper), h.weight);
            out[to.offset(b, y, x) + k] = interpolate(top, bottom, v.weight);
          }
        });
  }

 private:
  static float interpolate(float a, float b, float weight) { return a + (b - a) * weight; }
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
    for_each_resized_pixel(
        c.op(), from, to,
        [&](int64_t b, int64_t y, int64_t x, const ResizedAxis& rows, const ResizedAxis& columns) {
          const auto v = rows.interpolation_at(y), h = columns.interpolation_at(x);
          for (int64_t k = 0; k < to.channels; ++k) {
            const float dy = grad[to.offset(b, y, x) + k];
            const auto add_weighted = [&](int64_t row, int64_t column, float weight) {
              out[from.offset(b, row, column) + k] += T(dy * weight);
            };
            add_weighted(v.lower, h.lower, (1 - v.weight) * (1 - h.weight));
            add_weighted(v.lower, h.upper, (1 - v.weight) * h.weight);
            add_weighted(v.upper, h.lower, v.weight * (1 - h.weight));
            add_weighted(v.upper, h.upper, v.weight * h.weight);
          }
        });
  }
};

template <typename T, bool kIsGrad>
class ResizeNearestKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& original = (kIsGrad ? c.output(0) : c.input(0)).shape();
    const Shape& resized = (kIsGrad ? c.input(0) : c.output(0)).shape();
    check_resized(original, resized);
    const Sizes from(original), to(resized);
    const bool aligned = c.op().attr_bool("align_corners");
    const T* in = c.input(0).data<T>();
    T* out = c.output(0).template data<T>();
    if (kIsGrad) std::fill(out, out + c.output(0).num_elements(), T(0));
    for_each_resized_pixel(
        c.op(), from, to,
        [&](int64_t b, int64_t y, int64_t x, const ResizedAxis& rows, const ResizedAxis& columns) {
          const int64_t source =
              from.offset(b, rows.nearest(y, aligned), columns.nearest(x, aligned));
          const int64_t target = to.offset(b, y, x);
          for (int64_t k = 0; k < to.channels; ++k) {
            if (kIsGrad) {
              out[source + k] += in[target + k];
            } else {
              out[target + k] = in[source + k];
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

// Converts red, green and blue in [0, 1] to hue in [0, 1), saturation and value.
void rgb_to_hsv(const float rgb[3], float hsv[3]) {
  const float max_color = std::max({rgb[0], rgb[1], rgb[2]});
  const float range = max_color - std::min({rgb[0], rgb[1], rgb[2]});
  hsv[2] = max_color;
  hsv[1] = max_color > 0 ? range / max_color : 0;
  if (range <= 0) {
    hsv[0] = 0;
    return;
  }
  const float norm = 1.0f / (6.0f * range);
  float hue = 0;
  if (rgb[0] == max_color) {
    hue = norm * (rgb[1] - rgb[2]);
  } else if (rgb[1] == max_color) {
    hue = norm * (rgb[2] - rgb[0]) + 2.0f / 6.0f;
  } else {
    hue = norm * (rgb[0] - rgb[1]) + 4.0f / 6.0f;
  }
  hsv[0] = hue < 0 ? hue + 1 : hue;
}

void hsv_to_rgb(const float hsv[3], float rgb[3]) {
  const float chroma = hsv[1] * hsv[2], min_color = hsv[2] - chroma, sextant = hsv[0] * 6;
  const auto clamped = [](float x) { return std::max(0.0f, std::min(1.0f, x)); };
  rgb[0] = clamped(std::fabs(sextant - 3) - 1) * chroma + min_color;
  rgb[1] = clamped(2 - std::fabs(sextant - 2)) * chroma + min_color;
  rgb[2] = clamped(2 - std::fabs(sextant - 4)) * chroma + min_color;
}

struct ToHsv {
  static void transform(const float in[3], float, float out[3]) { rgb_to_hsv(in, out); }
};
struct ToRgb {
  static void transform(const float in[3], float, float out[3]) { hsv_to_rgb(in, out); }
};
struct AdjustHue {
  static void transform(const float in[3], float delta, float out[3]) {
    float hsv[3];
    rgb_to_hsv(in, hsv);
    hsv[0] += delta;
    hsv[0] -= std::floor(hsv[0]);
    hsv_to_rgb(hsv, out);
  }
};
struct AdjustSaturation {
  static void transform(const float in[3], float scale, float out[3]) {
    float hsv[3];
    rgb_to_hsv(in, hsv);
    hsv[1] = std::max(0.0f, std::min(1.0f, hsv[1] * scale));
    hsv_to_rgb(hsv, out);
  }
};

// Transforms each pixel by PixelFunction. The optional input 1 is its scalar parameter.
template <typename PixelFunction>
class PixelKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const float parameter = c.num_inputs() > 1 ? *c.input(1).data<float>() : 0;
    const auto* in = c.input(0).data<float>();
    auto* out = c.output(0).data<float>();
    for (int64_t i = 0; i < c.input(0).num_elements(); i += 3)
      PixelFunction::transform(in + i, parameter, out + i);
  }
};

void pixels_shape(ShapeContext& c) {
  const Shape& x = c.input(0);
  if (x.has_rank() && (x.rank() < 1 || !Shape{x.dim(x.rank() - 1)}.is_compatible_with(Shape{3}))) {
    invalid_argument(c.op().type(), ": input must have 3 channels but its shape is ", x, ".");
  }
  unchanged_shape(c);
}

// Scales the distance of each value to the mean of its channel in its image.
class AdjustContrastKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const int64_t channels = shape.dim(shape.rank() - 1);
    const int64_t pixels = shape.dim(shape.rank() - 2) * shape.dim(shape.rank() - 3);
    const float factor = *c.input(1).data<float>();
    const auto* in = c.input(0).data<float>();
    auto* out = c.output(0).data<float>();
    for (int64_t end = c.input(0).num_elements(), offset = 0; offset < end;
         offset += pixels * channels) {
      for (int64_t k = offset; k < offset + channels; ++k) {
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

// Local response normalization: divides each value by a norm over nearby channels.
struct LocalResponse {
  explicit LocalResponse(const Operation& op)
      : radius(std::clamp(op.attr_int("depth_radius"), -kMaxOffset, kMaxOffset)),
        bias(op.attr<float>("bias")),
        alpha(op.attr<float>("alpha")),
        beta(op.attr<float>("beta")) {}
  // Larger than any number of channels, but so small that sums do not overflow.
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
    const LocalResponse response(c.op());
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
    const LocalResponse response(c.op());
    const int64_t depth = c.input(0).shape().dim(3), n = c.input(0).num_elements();
    const auto *dy = c.input(0).data<float>(), *x = c.input(1).data<float>();
    const auto* y = c.input(2).data<float>();
    auto* dx = c.output(0).data<float>();
    std::fill(dx, dx + n, 0.0f);
    for (int64_t offset = 0; offset < n; offset += depth) {
      for (int64_t j = 0; j < depth; ++j) {
        const float norm = response.norm(x + offset, j, depth);
        for (int64_t k = response.first(j); k < response.last(j, depth); ++k) {
          float derivative =
              -2 * response.alpha * response.beta * x[offset + k] * y[offset + j] / norm;
          if (k == j) derivative += std::pow(norm, -response.beta);
          dx[offset + k] += derivative * dy[offset + j];
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

#define RUNHOOKS_PIXEL_OP(type, PixelFunction)         \
  RUNHOOKS_REGISTER_OP(type)                           \
      .input("images: float")                          \
      .output("output: float")                         \
      .shape(pixels_shape)                             \
      .kernel(kernel_of<PixelKernel<PixelFunction>>()) \
      .not_differentiable()

RUNHOOKS_PIXEL_OP("RGBToHSV", ToHsv)
    .endpoint("image.rgb_to_hsv")
    .summary("Converts RGB to HSV.")
    .example("e[2,2,3]");
RUNHOOKS_PIXEL_OP("HSVToRGB", ToRgb)
    .endpoint("image.hsv_to_rgb")
    .summary("Converts HSV to RGB.")
    .example("e[2,2,3]");
RUNHOOKS_PIXEL_OP("AdjustHue", AdjustHue)
    .input("delta: float, scalar")
    .endpoint("raw_ops.AdjustHue")
    .summary("Rotates the hue of images.")
    .example("e[2,2,3] e[]");
RUNHOOKS_PIXEL_OP("AdjustSaturation", AdjustSaturation)
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
