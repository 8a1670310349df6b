#include "nn/loss.h"

#include "base/ascii.h"
#include "nn/nn_functions.h"
#include "nn/replicas.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

Reduction reduction_from_name(const std::string& reduction_name) {
  const std::string name = ascii_lower(reduction_name);  // TensorFlow's constants are upper-case
  if (name == "none") return Reduction::kNone;
  if (name == "sum" || name == "weighted_sum") return Reduction::kSum;
  if (name == "mean" || name == "weighted_mean") return Reduction::kMean;
  if (name == "sum_over_batch_size" || name == "weighted_sum_over_batch_size") {
    return Reduction::kSumOverBatchSize;
  }
  if (name == "sum_by_nonzero_weights" || name == "sum_over_nonzero_weights" ||
      name == "weighted_sum_by_nonzero_weights") {
    return Reduction::kSumByNonzeroWeights;
  }
  throw Error(Code::kInvalidArgument, str_cat("`loss_reduction` cannot be '", reduction_name, "'."),
              {"It is one of: sum, mean, sum_over_batch_size, sum_over_nonzero_weights."});
}

namespace {

Output sum_all(Graph& graph, Output x, const std::string& name) {
  return graph.op("Sum", {x, axes_of(graph, x)}).named(name);
}

// Throws unless the weights are a scalar, or have the same rank as the losses and each dimension is
// equal or 1.
void check_broadcastable(Output weights, Output losses) {
  const Shape &w = weights.shape(), &x = losses.shape();
  if (!w.has_rank() || !x.has_rank() || w.rank() == 0) return;
  bool fits = w.rank() == x.rank();
  for (int i = 0; fits && i < w.rank(); ++i) {
    fits = w.dim(i) == 1 || w.dim(i) < 0 || x.dim(i) < 0 || w.dim(i) == x.dim(i);
  }
  if (fits) return;
  throw Error(Code::kInvalidArgument,
              str_cat("weights can not be broadcast to values. values shape=", x,
                      ", weights shape=", w, "."),
              {"Use one weight, or weights with as many dimensions as the losses."});
}

// Computes x / divisor, or 0 if the divisor is not positive. SelectV2 avoids a division by 0, whose
// gradient would be NaN.
Output safe_quotient(Graph& graph, Output x, Output divisor) {
  const Output zero = graph.scalar(x.dtype(), 0), one = graph.scalar(x.dtype(), 1);
  const Output is_positive = graph.op("Greater", {divisor, zero});
  const Output safe_divisor = graph.op("SelectV2", {is_positive, divisor, one});
  const Output quotient = graph.op("RealDiv", {x, safe_divisor}).named("div");
  return graph.op("SelectV2", {is_positive, quotient, zero}).named("value");
}

// In distributed training, each gradient is averaged over the processes. Multiplying the loss by
// their number makes this average the gradient of the sum over all processes.
Output scale_for_replica_mean(Graph& graph, Output sum) {
  const int replicas = replicas_of(graph);
  if (replicas == 1) return sum;
  return graph.op("Mul", {sum, graph.scalar(sum.dtype(), replicas, "num_replicas")});
}

Output reduce_losses(Graph& graph, Output losses, Output weights, Reduction reduction) {
  const Output weighted = graph.op("Mul", {losses, weights});
  if (reduction == Reduction::kNone) return weighted;
  const Output sum = sum_all(graph, weighted, "Sum");
  if (reduction == Reduction::kSum) return scale_for_replica_mean(graph, sum);
  if (reduction == Reduction::kSumOverBatchSize) {
    const Output size = graph.op("Size", {losses}).named("num_elements");
    const Output number = graph.op("Cast", {size}).attr("DstT", losses.dtype());
    return safe_quotient(graph, sum, mean_over_replicas(graph, number));
  }
  const Output shape = graph.op("Shape", {losses});
  Output counted_weights = weights;
  if (reduction == Reduction::kSumByNonzeroWeights) {
    const Output nonzero = graph.op("NotEqual", {weights, graph.scalar(weights.dtype(), 0)});
    counted_weights = graph.op("Cast", {nonzero}).attr("DstT", losses.dtype());
  }
  const Output weights_per_loss = graph.op("BroadcastTo", {counted_weights, shape});
  weights_per_loss.op->set_output_shape(0, losses.shape());
  const Output number = sum_all(graph, weights_per_loss, "num_present");
  return safe_quotient(graph, sum, mean_over_replicas(graph, number));
}

}  // namespace

Output compute_weighted_loss(Graph& graph,
                             Output losses,
                             Output weights,
                             Reduction reduction,
                             const std::string& scope_name,
                             const std::string& collection) {
  NameScope scope(graph, scope_name);
  const DType dtype = losses.dtype();
  losses = cast(graph, losses, DType::kFloat32);
  if (weights) {
    check_broadcastable(weights, losses);
    weights = cast(graph, weights, DType::kFloat32);
  } else {
    weights = graph.scalar(DType::kFloat32, 1, "Cast/x");
  }
  const Output loss = cast(graph, reduce_losses(graph, losses, weights, reduction), dtype);
  if (ReplicaScope* replicas = ReplicaScope::of(graph)) replicas->mark_mean_loss(loss.op);
  if (!collection.empty()) graph.add_to_collection(collection, loss);
  return loss;
}

}  // namespace runhooks
