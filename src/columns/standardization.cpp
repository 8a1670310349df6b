#include "columns/standardization.h"

#include <cmath>

#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

Output constant_of(Graph& graph,
                   DType dtype,
                   const std::vector<double>& values,
                   const std::string& name) {
  if (values.size() == 1) return graph.scalar(dtype, values[0], name);
  const Shape shape{static_cast<int64_t>(values.size())};
  if (dtype == DType::kFloat64) return graph.constant(Tensor::of<double>(shape, values), name);
  const std::vector<float> floats(values.begin(), values.end());
  return graph.constant(Tensor::of<float>(shape, floats), name);
}

}  // namespace

Standardization::Standardization(const Args& args,
                                 const std::string& center,
                                 const std::string& scale,
                                 int64_t width) {
  if (!args.has(scale)) return;
  scale_ = args.numbers(scale);
  center_ = args.numbers(center);
  const auto has_valid_size = [&](const std::vector<double>& values) {
    return values.size() == 1 || static_cast<int64_t>(values.size()) == width;
  };
  if (!has_valid_size(scale_) || !has_valid_size(center_)) {
    invalid_argument("`", center, "` and `", scale, "` must have one number each, or ", width, ".");
  }
  for (const double x : scale_) {
    if (!(x > 0 && std::isfinite(x))) {
      invalid_argument("`", scale, "` must be positive numbers; got ", x, ".");
    }
  }
}

Output Standardization::apply(Graph& graph, Output x) const {
  const NameScope scope(graph, "standardize");
  const Output difference = graph.op(
      "Sub",
      {cast(graph, x, DType::kFloat64), constant_of(graph, DType::kFloat64, center_, "center")});
  return graph.op("RealDiv", {difference, constant_of(graph, DType::kFloat64, scale_, "scale")});
}

Output Standardization::invert(Graph& graph, Output x) const {
  const NameScope scope(graph, "of_data");
  const DType dtype = DType::kFloat64;
  const Output product =
      graph.op("Mul", {cast(graph, x, dtype), constant_of(graph, dtype, scale_, "scale")})
          .named("Mul");
  return graph.op("AddV2", {product, constant_of(graph, dtype, center_, "center")});
}

Output Standardization::unscale_differences(Graph& graph, Output differences) const {
  return graph.op("Mul", {differences, constant_of(graph, DType::kFloat32, scale_, "scale")});
}

Output Standardization::unscale_squares(Graph& graph, Output squares) const {
  std::vector<double> factors;
  for (const double x : scale_) factors.push_back(x * x);
  return graph.op("Mul", {squares, constant_of(graph, DType::kFloat32, factors, "scale")});
}

}  // namespace runhooks
