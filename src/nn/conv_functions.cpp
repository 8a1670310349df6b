#include <algorithm>

#include "base/ascii.h"
#include "graph/graph_function.h"
#include "nn/layer_parts.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

using Sizes = std::vector<int64_t>;

std::string padding_argument(const Args& args) {
  const std::string padding = ascii_upper(args.text("padding", "valid"));
  if (padding != "SAME" && padding != "VALID") {
    invalid_argument("The `padding` argument of ", args.owner(),
                     " must be one of \"valid\", \"same\". Received: ", args.text("padding", ""));
  }
  return padding;
}

Sizes sizes_argument(const Args& args, const std::string& name, size_t rank, int64_t otherwise) {
  Sizes sizes = whole_numbers(args, name);
  if (sizes.empty()) sizes.assign(1, otherwise);
  if (sizes.size() == 1) sizes.assign(rank, sizes[0]);
  const bool all_positive =
      std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n >= 1; });
  if (sizes.size() != rank || !all_positive) {
    invalid_argument("`", name, "` of ", args.owner(), " must be one whole number above 0, or ",
                     rank, " of them, not ", str_join(sizes, ", "), ".");
  }
  return sizes;
}

// Reads window sizes or strides with 1, 2 or 4 elements and converts them to [1, height, width, 1].
Sizes image_sizes(const Args& args, const std::string& name) {
  const Sizes sizes = whole_numbers(args, name);
  if (sizes.size() == 1) return {1, sizes[0], sizes[0], 1};
  if (sizes.size() == 2) return {1, sizes[0], sizes[1], 1};
  if (sizes.size() != 4) {
    invalid_argument("`", name, "` of ", args.owner(), " must be 1, 2 or 4 whole numbers, not ",
                     sizes.size(), ".");
  }
  return sizes;
}

Sizes as_image_sizes(const Sizes& sizes) { return {1, sizes[0], sizes[1], 1}; }

std::string format_argument(const Args& args) {
  const std::string format = args.text("data_format", "NHWC");
  if (format == "channels_last" || format == "NWC") return "NHWC";
  return format == "channels_first" ? "NCHW" : format;
}

Output first_tensor(Graph& graph, const Args& args, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (args.has(name)) return tensor_argument(graph, args, name);
  }
  invalid_argument("`", names[0], "` of ", args.owner(), " is missing.");
}

Value call_nn_conv2d(Graph& graph, const Args& args) {
  const Output input = tensor_argument(graph, args, "input");
  const Output filter = first_tensor(graph, args, {"filter", "filters"});
  args.flag("use_cudnn_on_gpu", true);
  return Value::of(graph.op("Conv2D", {input, filter})
                       .attr("strides", image_sizes(args, "strides"))
                       .attr("padding", padding_argument(args))
                       .attr("data_format", format_argument(args))
                       .attr("dilations", args.has("dilations") ? image_sizes(args, "dilations")
                                                                : Sizes{1, 1, 1, 1})
                       .named(args.text("name", "Conv2D")));
}

Value call_nn_conv2d_transpose(Graph& graph, const Args& args) {
  const Output value = first_tensor(graph, args, {"value", "input"});
  const Output filter = first_tensor(graph, args, {"filter", "filters"});
  const NameScope scope(graph, args.text("name", "conv2d_transpose"));
  const Output shape = tensor_argument(graph, args, "output_shape", DType::kInt32);
  return Value::of(graph.op("Conv2DBackpropInput", {shape, filter, value})
                       .attr("strides", image_sizes(args, "strides"))
                       .attr("padding", padding_argument(args))
                       .attr("data_format", format_argument(args))
                       .attr("dilations", args.has("dilations") ? image_sizes(args, "dilations")
                                                                : Sizes{1, 1, 1, 1})
                       .named(scope.name()));
}

Output depthwise(Graph& graph, const Args& args, Output x, Output filter, const std::string& name) {
  const bool has_both = args.has("rate") && args.has("dilations");
  if (has_both) invalid_argument("Give only one of `rate` and `dilations` to ", args.owner(), ".");
  const char* rate_name = args.has("dilations") ? "dilations" : "rate";
  const Sizes rate = args.has(rate_name) ? image_sizes(args, rate_name) : Sizes{1, 1, 1, 1};
  return graph.op("DepthwiseConv2dNative", {x, filter})
      .attr("strides", image_sizes(args, "strides"))
      .attr("padding", padding_argument(args))
      .attr("data_format", format_argument(args))
      .attr("dilations", rate)
      .named(name);
}

Value call_nn_depthwise_conv2d(Graph& graph, const Args& args) {
  const Output input = tensor_argument(graph, args, "input");
  const Output filter = tensor_argument(graph, args, "filter");
  const NameScope scope(graph, args.text("name", "depthwise"));
  return Value::of(depthwise(graph, args, input, filter, scope.name()));
}

Value call_nn_separable_conv2d(Graph& graph, const Args& args) {
  const Output input = tensor_argument(graph, args, "input");
  const Output by_channel = tensor_argument(graph, args, "depthwise_filter");
  const Output pointwise = tensor_argument(graph, args, "pointwise_filter");
  const NameScope scope(graph, args.text("name", "separable_conv2d"));
  const Output depthwise_output = depthwise(graph, args, input, by_channel, "depthwise");
  return Value::of(graph.op("Conv2D", {depthwise_output, pointwise})
                       .attr("strides", Sizes{1, 1, 1, 1})
                       .attr("padding", "VALID")
                       .attr("data_format", format_argument(args))
                       .named(scope.name()));
}

template <const char* const& kType>
Value call_nn_pool(Graph& graph, const Args& args) {
  const Output value = first_tensor(graph, args, {"value", "input"});
  return Value::of(graph.op(kType, {value})
                       .attr("ksize", image_sizes(args, "ksize"))
                       .attr("strides", image_sizes(args, "strides"))
                       .attr("padding", padding_argument(args))
                       .attr("data_format", format_argument(args))
                       .named(args.text("name", kType)));
}

constexpr const char* kMaxPool = "MaxPool";
constexpr const char* kAvgPool = "AvgPool";

// Inserts a height of 1 into sequences [batch, width, channels], so that the ops for images can
// process them.
Output with_height(Graph& graph, Output x) {
  return graph.op("ExpandDims", {x, graph.scalar(DType::kInt32, 1, "dim")});
}
Output without_height(Graph& graph, Output x) {
  return graph.op("Squeeze", {x}).attr("squeeze_dims", Sizes{1});
}

Output check_rank(const Args& args, Output x, int rank) {
  if (x.shape().has_rank() && x.shape().rank() != rank) {
    invalid_argument(
        "Input 0 of ", args.owner(), " is incompatible with the layer: expected ndim=", rank,
        ", found ndim=", x.shape().rank(), ": '", x.name(), "' has shape ", x.shape(), ".");
  }
  return x;
}

template <const char* const& kType, int kDims>
Value call_pooling_layer(Graph& graph, const Args& args) {
  const std::string kind = str_cat(kType == kMaxPool ? "max" : "average", "_pooling", kDims, "d");
  Output x = check_rank(args, tensor_argument(graph, args, "inputs"), kDims + 2);
  Sizes size = sizes_argument(args, "pool_size", kDims, 1);
  Sizes strides = sizes_argument(args, "strides", kDims, 1);
  const NameScope scope(graph, args.text("name", kind));
  if (kDims == 1) {
    x = with_height(graph, x);
    size.insert(size.begin(), 1);
    strides.insert(strides.begin(), 1);
  }
  const Output pooled = graph.op(kType, {x})
                            .attr("ksize", as_image_sizes(size))
                            .attr("strides", as_image_sizes(strides))
                            .attr("padding", padding_argument(args))
                            .attr("data_format", format_argument(args));
  return Value::of(kDims == 1 ? without_height(graph, pooled) : pooled);
}

int64_t channels_of(const Args& args, Output x) {
  const Shape& shape = x.shape();
  const int64_t channels = shape.has_rank() ? shape.dim(shape.rank() - 1) : -1;
  if (channels < 0) {
    invalid_argument("The channel dimension of the inputs of ", args.owner(),
                     " should be defined. Found `None`; their shape is ", shape, ".");
  }
  return channels;
}

int64_t filters_argument(const Args& args) {
  const int64_t filters = args.integer("filters");
  if (filters < 1) invalid_argument("`filters` must be 1 or more, not ", filters, ".");
  return filters;
}

template <int kDims>
Value call_conv_layer(Graph& graph, const Args& args) {
  const Output inputs = check_rank(args, tensor_argument(graph, args, "inputs"), kDims + 2);
  const int64_t filters = filters_argument(args);
  const Sizes size = sizes_argument(args, "kernel_size", kDims, 1);
  Sizes strides = sizes_argument(args, "strides", kDims, 1);
  Sizes dilations = sizes_argument(args, "dilation_rate", kDims, 1);
  if (kDims == 1) {
    strides.insert(strides.begin(), 1);
    dilations.insert(dilations.begin(), 1);
  }
  Shape kernel_shape(size);
  kernel_shape.append(channels_of(args, inputs));
  kernel_shape.append(filters);
  const std::string padding = padding_argument(args), format = format_argument(args);
  const std::string name =
      layer_name(graph, args.text("name", ""), kDims == 1 ? "conv1d" : "conv2d");
  return Value::of(layer_with_kernel(
      graph, name, dense_options(args), inputs.dtype(), kernel_shape, filters,
      [&](Output kernel) -> Output {
        Output x = inputs;
        if (kDims == 1) {
          x = with_height(graph, x);
          kernel = graph.op("ExpandDims", {kernel, graph.scalar(DType::kInt32, 0, "dim")});
        }
        const Output y = graph.op("Conv2D", {x, kernel})
                             .attr("strides", as_image_sizes(strides))
                             .attr("padding", padding)
                             .attr("data_format", format)
                             .attr("dilations", as_image_sizes(dilations));
        return kDims == 1 ? without_height(graph, y) : y;
      }));
}

// Computes an output dimension of a transposed convolution from the input dimension `n` and the
// window's `size` and `stride`.
Output transposed_size(Graph& graph, Output n, int64_t size, int64_t stride, bool is_same) {
  const auto number = [&](int64_t x) {
    return graph.scalar(DType::kInt32, static_cast<double>(x));
  };
  const Output scaled = multiply(graph, n, number(stride));
  const int64_t extra = is_same ? 0 : std::max<int64_t>(size - stride, 0);
  return extra == 0 ? scaled : add(graph, scaled, number(extra));
}

Value call_conv2d_transpose_layer(Graph& graph, const Args& args) {
  const Output x = check_rank(args, tensor_argument(graph, args, "inputs"), 4);
  const int64_t filters = filters_argument(args);
  const Sizes size = sizes_argument(args, "kernel_size", 2, 1);
  const Sizes strides = sizes_argument(args, "strides", 2, 1);
  const std::string padding = padding_argument(args), format = format_argument(args);
  const Shape kernel_shape{size[0], size[1], filters, channels_of(args, x)};
  const std::string name = layer_name(graph, args.text("name", ""), "conv2d_transpose");
  return Value::of(layer_with_kernel(
      graph, name, dense_options(args), x.dtype(), kernel_shape, filters,
      [&](Output kernel) -> Output {
        Operation* dims = graph.op("Unpack", {shape_of(graph, x)}).attr("num", 4);
        const bool is_same = padding == "SAME";
        Shape known{x.shape().dim(0), -1, -1, filters};
        std::vector<Output> sizes = {dims->output(0)};
        for (int i = 1; i <= 2; ++i) {
          const auto k = static_cast<size_t>(i - 1);
          sizes.push_back(transposed_size(graph, dims->output(i), size[k], strides[k], is_same));
          const int64_t n = x.shape().dim(i);
          const int64_t extra = is_same ? 0 : std::max<int64_t>(size[k] - strides[k], 0);
          if (n >= 0) known.set_dim(i, n * strides[k] + extra);
        }
        sizes.push_back(graph.scalar(DType::kInt32, static_cast<double>(filters)));
        const Output shape = graph.op("Pack", sizes).attr("axis", 0);
        Output y = graph.op("Conv2DBackpropInput", {shape, kernel, x})
                       .attr("strides", as_image_sizes(strides))
                       .attr("padding", padding)
                       .attr("data_format", format);
        y.op->set_output_shape(0, known);
        return y;
      }));
}

}  // namespace

RUNHOOKS_REGISTER_FUNCTION(
    "nn.conv2d(input, filter = NULL, strides = NULL, padding = NULL, use_cudnn_on_gpu = TRUE, "
    "data_format = 'NHWC', dilations = 1, name = NULL, filters = NULL)",
    "The convolution of images [batch, height, width, channels] with filters [height, width, "
    "channels, outputs].",
    call_nn_conv2d);
RUNHOOKS_REGISTER_FUNCTION(
    "nn.conv2d_transpose(value = NULL, filter = NULL, output_shape = NULL, strides = NULL, "
    "padding = 'SAME', data_format = 'NHWC', name = NULL, input = NULL, filters = NULL, "
    "dilations = NULL)",
    "The transpose of a convolution, which is its gradient.",
    call_nn_conv2d_transpose);
RUNHOOKS_REGISTER_FUNCTION(
    "nn.depthwise_conv2d(input, filter, strides, padding, rate = NULL, name = NULL, data_format = "
    "NULL, dilations = NULL)",
    "Convolves each channel of images separately, with filters [height, width, channels, "
    "multiplier].",
    call_nn_depthwise_conv2d);
RUNHOOKS_REGISTER_FUNCTION(
    "nn.separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate = NULL, "
    "name = NULL, data_format = NULL, dilations = NULL)",
    "A depthwise convolution, followed by a 1 x 1 convolution over all channels.",
    call_nn_separable_conv2d);
RUNHOOKS_REGISTER_FUNCTION(
    "nn.max_pool(value, ksize, strides, padding, data_format = 'NHWC', name = NULL, input = NULL)",
    "The maximum of each window of images.",
    call_nn_pool<kMaxPool>);
RUNHOOKS_REGISTER_FUNCTION(
    "nn.avg_pool(value, ksize, strides, padding, data_format = 'NHWC', name = NULL, input = NULL)",
    "The mean of each window of images.",
    call_nn_pool<kAvgPool>);
RUNHOOKS_REGISTER_FUNCTION(
    "layers.max_pooling2d(inputs, pool_size, strides, padding = 'valid', data_format = "
    "'channels_last', name = NULL)",
    "The maximum of each window of images.",
    call_pooling_layer<kMaxPool, 2>);
RUNHOOKS_REGISTER_FUNCTION(
    "layers.average_pooling2d(inputs, pool_size, strides, padding = 'valid', data_format = "
    "'channels_last', name = NULL)",
    "The mean of each window of images.",
    call_pooling_layer<kAvgPool, 2>);
RUNHOOKS_REGISTER_FUNCTION(
    "layers.max_pooling1d(inputs, pool_size, strides, padding = 'valid', data_format = "
    "'channels_last', name = NULL)",
    "The maximum of each window of sequences [batch, steps, channels].",
    call_pooling_layer<kMaxPool, 1>);
RUNHOOKS_REGISTER_FUNCTION(
    "layers.average_pooling1d(inputs, pool_size, strides, padding = 'valid', data_format = "
    "'channels_last', name = NULL)",
    "The mean of each window of sequences [batch, steps, channels].",
    call_pooling_layer<kAvgPool, 1>);
RUNHOOKS_REGISTER_FUNCTION(
    "layers.conv2d(inputs, filters, kernel_size, strides = 1, padding = 'valid', data_format = "
    "'channels_last', dilation_rate = 1, activation = NULL, use_bias = TRUE, kernel_initializer = "
    "NULL, bias_initializer = NULL, kernel_regularizer = NULL, bias_regularizer = NULL, "
    "activity_regularizer = NULL, kernel_constraint = NULL, bias_constraint = NULL, trainable = "
    "TRUE, name = NULL, reuse = NULL)",
    "A 2-D convolution layer for images.",
    call_conv_layer<2>);
RUNHOOKS_REGISTER_FUNCTION(
    "layers.conv1d(inputs, filters, kernel_size, strides = 1, padding = 'valid', data_format = "
    "'channels_last', dilation_rate = 1, activation = NULL, use_bias = TRUE, kernel_initializer = "
    "NULL, bias_initializer = NULL, kernel_regularizer = NULL, bias_regularizer = NULL, "
    "activity_regularizer = NULL, kernel_constraint = NULL, bias_constraint = NULL, trainable = "
    "TRUE, name = NULL, reuse = NULL)",
    "A 1-D convolution layer for sequences.",
    call_conv_layer<1>);
RUNHOOKS_REGISTER_FUNCTION(
    "layers.conv2d_transpose(inputs, filters, kernel_size, strides = 1, padding = 'valid', "
    "data_format = 'channels_last', activation = NULL, use_bias = TRUE, kernel_initializer = NULL, "
    "bias_initializer = NULL, kernel_regularizer = NULL, bias_regularizer = NULL, "
    "activity_regularizer = NULL, kernel_constraint = NULL, bias_constraint = NULL, trainable = "
    "TRUE, name = NULL, reuse = NULL)",
    "A transposed 2-D convolution layer for images.",
    call_conv2d_transpose_layer);

}  // namespace runhooks
