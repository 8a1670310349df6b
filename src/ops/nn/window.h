// What lives here: Window, how windows of an image (a filter's, a pool's) lie on it: sizes, strides, padding.
// Who may use it: ops of convolution and pooling.
// What it must not know: what is computed in a window, R.
#pragma once

#include "graph/op_registry.h"

namespace runhooks {

// One of the two dimensions of an image. Sizes that are not known are -1.
struct WindowAxis {
  int64_t in = -1, size = -1, stride = 1, dilation = 1;
  int64_t out = -1, before = 0;  // how many cells of padding stand before the image
};

// An image is [batch, height, width, channels].
struct Window {
  WindowAxis height, width;
  // Of `op`'s attributes strides, padding and, where it has them, dilations; throws where the
  // window is larger than the image, or the attributes are none.
  Window(const Operation& op, const Shape& image, int64_t height, int64_t width);
};

// Of these an op has all.
constexpr const char* kStrides = "strides: list(int) >= 4, <= 4";
constexpr const char* kPadding = "padding: {'SAME', 'VALID'}";
constexpr const char* kDataFormat = "data_format: {'NHWC', 'NCHW'} = 'NHWC'";

// What follows the strides of a convolution.
#define RUNHOOKS_CONVOLUTION_ATTRS                            \
  attr(kPadding)                                              \
      .attr(kDataFormat)                                      \
      .attr("dilations: list(int) >= 4, <= 4 = [1, 1, 1, 1]") \
      .attr("T: {float, double}")

// An op of this type whose windows are those of `op`.
Output windowed(Graph& g, const Operation& op, const char* type, const std::vector<Output>& inputs);

// The place of one image row of windows: calls visit(y, x, ky, kx) with the cell (y, x) of the
// image below the cell (ky, kx) of the window at (oy, ox), for all that are in the image.
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
