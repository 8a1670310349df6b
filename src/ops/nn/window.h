// Window: sizes, strides, dilations and padding of a convolution filter or a pooling window.
#pragma once

#include "graph/op_registry.h"

namespace runhooks {

// One of the two image dimensions: the sizes of the input image, the window and the output image.
// Unknown sizes are -1. `padding_before` counts the padding cells before the image.
struct WindowAxis {
  int64_t in = -1, size = -1, stride = 1, dilation = 1;
  int64_t out = -1, padding_before = 0;
};

// Images have the shape [batch, height, width, channels].
struct Window {
  WindowAxis height, width;
  // Reads `op`'s attributes strides, padding and, if present, dilations. Throws if the attributes
  // are invalid or the window is larger than the image.
  Window(const Operation& op, const Shape& image, int64_t height, int64_t width);
};

// Attributes of all ops that move a window over an image.
constexpr const char* kStrides = "strides: list(int) >= 4, <= 4";
constexpr const char* kPadding = "padding: {'SAME', 'VALID'}";
constexpr const char* kDataFormat = "data_format: {'NHWC', 'NCHW'} = 'NHWC'";

// Attributes of a convolution other than its strides, in TensorFlow's order.
#define RUNHOOKS_CONVOLUTION_ATTRS                            \
  attr(kPadding)                                              \
      .attr(kDataFormat)                                      \
      .attr("dilations: list(int) >= 4, <= 4 = [1, 1, 1, 1]") \
      .attr("T: {float, double}")

// Throws if the filter is known not to fit the number of channels of the image.
void check_equal_depth(const Shape& image, const Shape& filter);

// Adds an op of this type whose window attributes (padding, strides etc.) are those of `op`.
Output same_window_op(Graph& g, const Operation& op, const char* type, const Outputs& inputs);

// Calls visit(y, x, ky, kx) for each cell (ky, kx) of the window at output position (oy, ox) that
// covers an image cell (y, x), not padding.
template <typename Visit>
void visit_window(const Window& w, int64_t oy, int64_t ox, Visit visit) {
  const int64_t top = oy * w.height.stride - w.height.padding_before;
  const int64_t left = ox * w.width.stride - w.width.padding_before;
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
