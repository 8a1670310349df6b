// Window: geometry of a filter or pooling window on an image, i.e. sizes, strides and padding.
#pragma once

#include "graph/op_registry.h"

namespace runhooks {

// One of the two image dimensions. Unknown sizes are -1.
struct WindowAxis {
  int64_t in = -1, size = -1, stride = 1, dilation = 1;
  int64_t out = -1, before = 0;  // padding cells before the image
};

// An image is [batch, height, width, channels].
struct Window {
  WindowAxis height, width;
  // Reads `op`'s attributes strides, padding and, if present, dilations. Throws if the attributes
  // are invalid or the window is larger than the image.
  Window(const Operation& op, const Shape& image, int64_t height, int64_t width);
};

// Attributes that all windowed ops have.
constexpr const char* kStrides = "strides: list(int) >= 4, <= 4";
constexpr const char* kPadding = "padding: {'SAME', 'VALID'}";
constexpr const char* kDataFormat = "data_format: {'NHWC', 'NCHW'} = 'NHWC'";

// Attributes of a convolution after its strides.
#define RUNHOOKS_CONVOLUTION_ATTRS                            \
  attr(kPadding)                                              \
      .attr(kDataFormat)                                      \
      .attr("dilations: list(int) >= 4, <= 4 = [1, 1, 1, 1]") \
      .attr("T: {float, double}")

// An op of this type with the window attributes of `op`.
Output windowed(Graph& g, const Operation& op, const char* type, const Outputs& inputs);

// Calls visit(y, x, ky, kx) for each window cell (ky, kx) of the window at output position (oy, ox)
// that covers an image cell (y, x).
template <typename Visit>
void visit_window(const Window& w, int64_t oy, int64_t ox, Visit visit) {
  const int64_t top = oy * w.height.stride - w.height.before;
  const int64_t left = ox * w.width.stride - w.width.before;
  for (int64_t ky = 0; ky < w.height.size; ++ky) {
    const int64_t y = top + ky * w.height.dilation;
    if (y < 0 || y >= w.height.in) continue;
    for (int64_t kx = 0; kx < w.width.size; ++kx) {
      const int64_t x = left + kx * w.width.dilation;
      if (x >= 0 && x < w.width.in) visit(y, x, ky, kx);
    }
  }
}

}  // namespace runhooks
