#include "estimators/heads/softmax_derivatives.h"

namespace runhooks {

namespace {

Output sum_of_rows(Graph& g, const Output& x) {
  return g.op("Sum", {x, g.int_vector({1}, "axis")}).attr("keep_dims", true);
}

// Where `mask` is 1, replaces the element of `x` by minus the sum of the other elements of its row.
Output with_sum_zero(Graph& g, const Output& x, const Output& mask) {
  const Output other_elements =
      g.op("Mul", {x, g.op("Sub", {g.scalar(DType::kFloat32, 1, "one"), mask})});
  return g.op("Sub", {other_elements, g.op("Mul", {mask, sum_of_rows(g, other_elements)})});
}

// Returns a one-hot mask of the label's class, whose derivative is the only negative one. If this
// derivative rounds to 0, the label is the class with the largest logit.
Output label_mask(Graph& g, const Output& logits, const Output& gradients, int64_t k) {
  const Output axis = g.scalar(DType::kInt32, 1, "axis");
  const Output min = g.op("Min", {gradients, g.int_vector({1}, "axis")});
  const Output is_negative = g.op("Less", {min, g.op("ZerosLike", {min})});
  const Output label = g.op(
      "Select", {is_negative, g.op("ArgMin", {gradients, axis}), g.op("ArgMax", {logits, axis})});
  return g.op("OneHot", {label, g.scalar(DType::kInt32, static_cast<double>(k), "depth"),
                         g.scalar(DType::kFloat32, 1, "on"), g.scalar(DType::kFloat32, 0, "off")});
}

}  // namespace

void restore_softmax_sums(Graph& graph,
                          const Output& logits,
                          Output* gradients,
                          std::vector<Output>* hessian_rows) {
  const auto k = static_cast<int64_t>(hessian_rows->size());
  *gradients = with_sum_zero(graph, *gradients, label_mask(graph, logits, *gradients, k));
  for (int64_t i = 0; i < k; ++i) {
    std::vector<float> mask(static_cast<size_t>(k), 0);
    mask[static_cast<size_t>(i)] = 1;
    Output& row = (*hessian_rows)[static_cast<size_t>(i)];
    row = with_sum_zero(graph, row, graph.constant(Tensor::vector<float>(mask), "place"));
  }
}

}  // namespace runhooks
