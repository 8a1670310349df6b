#include "ops/nn/window.h"

#include <algorithm>

#include "graph/graph.h"

namespace runhooks {

namespace {

void set_output_size(WindowAxis& axis, bool is_same) {
  if (axis.in < 0 || axis.size < 0) return;
  const int64_t extent = (axis.size - 1) * axis.dilation + 1;
  if (is_same) {
    axis.out = (axis.in + axis.stride - 1) / axis.stride;
    const int64_t padding = std::max<int64_t>((axis.out - 1) * axis.stride + extent - axis.in, 0);
    axis.padding_before = padding / 2;
    return;
  }
  if (axis.in < extent) {
    invalid_argument("Computed output size would be negative: an image of ", axis.in,
                     " cells is smaller than a window that reaches over ", extent,
                     ", where `padding` is 'VALID'.");
  }
  axis.out = (axis.in - extent) / axis.stride + 1;
}

}  // namespace

Window::Window(const Operation& op, const Shape& image, int64_t rows, int64_t columns) {
  if (op.attr<std::string>("data_format") != "NHWC") {
    fail(Code::kUnimplemented, "On a CPU, convolution and pooling take images as NHWC (channels ",
         "last) only, as in TensorFlow.");
  }
  const auto& strides = op.attr<std::vector<int64_t>>("strides");
  if (strides[0] != 1 || strides[3] != 1) {
    invalid_argument("Strides in the batch and depth dimensions must be 1; `strides` is ",
                     str_join(strides, ", "), ".");
  }
  height.stride = strides[1];
  width.stride = strides[2];
  if (op.def().find_attr("dilations")) {
    const auto& dilations = op.attr<std::vector<int64_t>>("dilations");
    if (dilations[0] != 1 || dilations[3] != 1) {
      invalid_argument("Dilations in the batch and depth dimensions must be 1.");
    }
    height.dilation = dilations[1];
    width.dilation = dilations[2];
  }
  if (height.stride < 1 || width.stride < 1 || height.dilation < 1 || width.dilation < 1) {
    invalid_argument("Strides and dilations must be 1 or more.");
  }
  height.size = rows;
  width.size = columns;
  if (rows == 0 || columns == 0) invalid_argument("A window must have at least one cell.");
  if (image.has_rank()) {
    height.in = image.dim(1);
    width.in = image.dim(2);
  }
  const bool is_same = op.attr<std::string>("padding") == "SAME";
  set_output_size(height, is_same);
  set_output_size(width, is_same);
}

void check_equal_depth(const Shape& image, const Shape& filter) {
  const int64_t channels = image.dim(3), depth = filter.dim(2);
  if (channels < 0 || depth < 0 || channels == depth) return;
  invalid_argument("The input and the filter must have equal depth: the input of shape ", image,
                   " has ", channels, " channels, the filter of shape ", filter, " expects ", depth,
                   ".");
}

Output same_window_op(Graph& g, const Operation& op, const char* type, const Outputs& inputs) {
  OpBuilder result = g.op(type, inputs);
  for (const char* name : {"padding", "data_format"}) result.attr(name, op.attr<std::string>(name));
  for (const char* name : {"ksize", "strides", "dilations"}) {
    if (!op.def().find_attr(name)) continue;
    result.attr(name, op.attr<std::vector<int64_t>>(name));
  }
  return result;
}

}  // namespace runhooks
