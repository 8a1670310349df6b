// tf.nn.fused_batch_norm: normalizes images per channel, by the mean and variance of the batch or
// by given ones.
#include <algorithm>

#include "graph/graph_function.h"
#include "nn/nn_functions.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

struct Layout {
  std::vector<int64_t> reduced_axes;   // all axes except the channels
  std::vector<int32_t> channel_shape;  // broadcast shape of a per-channel vector
};

Layout layout_of(const std::string& format) {
  if (format == "NHWC") return {{0, 1, 2}, {1, 1, 1, -1}};
  if (format == "NCHW") return {{0, 2, 3}, {1, -1, 1, 1}};
  if (format == "NDHWC") return {{0, 1, 2, 3}, {1, 1, 1, 1, -1}};
  if (format == "NCDHW") return {{0, 2, 3, 4}, {1, -1, 1, 1, 1}};
  invalid_argument("`data_format` must be \"NHWC\", \"NCHW\", \"NDHWC\" or \"NCDHW\", not \"",
                   format, "\".");
}

// Returns the exponential moving average after a new value with this weight.
Output moving_average(Graph& g, Output average, Output value, double weight) {
  if (weight == 1) return value;
  return add(g, multiply(g, average, number(g, value, 1 - weight)),
             multiply(g, value, number(g, value, weight)));
}

class FusedBatchNorm {
 public:
  FusedBatchNorm(Graph& g, const Args& args)
      : g_(g),
        x_(tensor_argument(g, args, "x")),
        scale_(tensor_argument(g, args, "scale", x_.dtype())),
        offset_(tensor_argument(g, args, "offset", x_.dtype())),
        mean_(tensor_argument_or_none(g, args, "mean", x_.dtype())),
        variance_(tensor_argument_or_none(g, args, "variance", x_.dtype())),
        layout_(layout_of(args.text("data_format", "NHWC"))),
        epsilon_(std::max(args.number("epsilon", 0.001), kMinEpsilon)),
        factor_(args.number("exponential_avg_factor", 1)) {
    const auto rank = static_cast<int>(layout_.channel_shape.size());
    if (x_.shape().has_rank() && x_.shape().rank() != rank) {
      invalid_argument("`x` of ", args.owner(), " must have ", rank, " dimensions, not shape ",
                       x_.shape(), ".");
    }
    const bool is_training = args.flag("is_training", true);
    if ((!is_training || factor_ != 1) && (!mean_ || !variance_)) {
      invalid_argument(
          "`mean` and `variance` of ", args.owner(), " must be given if ",
          is_training ? "`exponential_avg_factor` is not 1." : "`is_training` is FALSE.");
    }
    if (is_training) {
      normalize_by_batch();
    } else {
      y_ = normalized(by_channel(mean_), by_channel(variance_));
    }
  }
  Value result() const { return value_list({y_, mean_, variance_}); }

 private:
  static constexpr double kMinEpsilon = 1.001e-5;  // TensorFlow's minimum, required by cuDNN

  void normalize_by_batch() {
    const Moments batch = moments(g_, x_, layout_.reduced_axes, true);
    y_ = normalized(batch.mean, batch.variance);
    // TensorFlow normalizes by the biased variance but returns the unbiased one.
    const Output all = g_.op("Size", {x_}), channels = g_.op("Size", {scale_});
    const Output n = divide(g_, cast(g_, all, x_.dtype()), cast(g_, channels, x_.dtype()));
    const Output degrees_of_freedom =
        g_.op("Maximum", {subtract(g_, n, number(g_, n, 1)), number(g_, n, 1)});
    const Output unbiased = multiply(g_, batch.variance, divide(g_, n, degrees_of_freedom));
    mean_ = moving_average(g_, mean_, without_gradient(batch.mean), factor_);
    variance_ = moving_average(g_, variance_, without_gradient(unbiased), factor_);
  }
  Output normalized(const Output& mean, const Output& variance) const {
    return batch_normalization(g_, x_, mean, variance, by_channel(offset_), by_channel(scale_),
                               epsilon_);
  }
  Output by_channel(const Output& x) const {
    return g_.op("Reshape", {x, g_.int_vector(layout_.channel_shape)});
  }
  Output without_gradient(const Output& x) const {
    return g_.op("StopGradient", {g_.op("Reshape", {x, g_.int_vector({-1})})});
  }

  Graph& g_;
  Output x_, scale_, offset_, mean_, variance_, y_;
  Layout layout_;
  double epsilon_, factor_;
};

Value call_fused_batch_norm(Graph& g, const Args& args) { return FusedBatchNorm(g, args).result(); }

}  // namespace

RUNHOOKS_REGISTER_SCOPED_FUNCTION(
    "nn.fused_batch_norm(x, scale, offset, mean = NULL, variance = NULL, epsilon = 0.001, "
    "data_format = 'NHWC', is_training = TRUE, name = NULL, exponential_avg_factor = 1)",
    "Normalizes images per channel; also returns the mean and variance per channel.",
    call_fused_batch_norm);

}  // namespace runhooks
