#include "estimators/models/canned.h"

#include <algorithm>
#include <cmath>

namespace runhooks {

namespace {

std::shared_ptr<Optimizer> optimizer_from_value(const Value& value,
                                                const std::string& name,
                                                double named_rate) {
  if (const auto* type = value.get_if<std::string>()) {
    Args args(*type);
    args.set("learning_rate", Value::of(named_rate));
    return make_optimizer(*type, args);
  }
  if (const auto* spec = value.get_if<std::shared_ptr<Args>>()) {
    return make_optimizer((*spec)->text("type"), **spec);
  }
  if (const auto* function = value.get_if<std::shared_ptr<Callable>>()) {
    return optimizer_from_value((*function)->call({}), name, named_rate);
  }
  invalid_argument(
      "`", name,
      "` must be the name of an optimizer, an optimizer or a function that returns one, not ",
      value.kind(), ".");
}

}  // namespace

std::shared_ptr<Optimizer> optimizer_of(const Args& args,
                                        const ModelPart& part,
                                        size_t num_columns) {
  using RateScaling = PartOptimizer::RateScaling;
  const PartOptimizer& defaults = part.optimizer;
  const std::string name = part.optimizer_argument();
  const Value* value = args.find(name);
  const bool scales_rate = defaults.rate_scaling == RateScaling::kAlways ||
                           (defaults.rate_scaling == RateScaling::kForDefault && value == nullptr);
  const double root = std::sqrt(static_cast<double>(num_columns));
  const double rate = scales_rate ? std::min(defaults.rate, 1 / root) : defaults.rate;
  return optimizer_from_value(value ? *value : Value::of(std::string(defaults.default_name)), name,
                              rate);
}

Partitioner size_partitioner() {
  // TensorFlow creates at most one partition per parameter server. This package acts as one server.
  return [](const Shape& shape, DType) {
    return std::vector<int64_t>(static_cast<size_t>(std::max(shape.rank(), 1)), 1);
  };
}

namespace {

std::vector<int64_t> checked_partitions(const Value& result, const Shape& shape) {
  std::vector<int64_t> parts;
  if (const auto* list = result.get_if<std::shared_ptr<ValueList>>()) {
    for (const Value& item : **list) {
      double number = 0;
      if (value_number(item, &number)) parts.push_back(static_cast<int64_t>(number));
    }
  }
  double number = 0;
  if (value_number(result, &number)) parts.push_back(static_cast<int64_t>(number));
  if (static_cast<int>(parts.size()) != shape.rank()) {
    invalid_argument("A partitioner must return a number of parts for each of the ", shape.rank(),
                     " dimensions of a variable of shape ", shape, "; it returned ", parts.size(),
                     parts.size() == 1 ? " number." : " numbers.");
  }
  int num_partitioned = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t n = parts[static_cast<size_t>(i)];
    if (n < 1 || n > std::max<int64_t>(shape.dim(i), 1)) {
      invalid_argument("A partitioner cannot cut dimension ", i, " of a variable of shape ", shape,
                       " into ", n, " parts.");
    }
    num_partitioned += n > 1;
  }
  if (num_partitioned > 1) {
    invalid_argument("A partitioner can cut a variable along one dimension only; it has cut shape ",
                     shape, " along ", num_partitioned, ".");
  }
  return parts;
}

}  // namespace

Partitioner partitioner_argument(const Args& args, const std::string& name) {
  const std::shared_ptr<Callable> function = args.callable(name);
  if (!function) return size_partitioner();
  return [function](const Shape& shape, DType dtype) {
    if (shape.rank() == 0) return std::vector<int64_t>{1};
    auto dims = std::make_shared<ValueList>();
    for (int i = 0; i < shape.rank(); ++i) dims->push_back(Value::of(shape.dim(i)));
    return checked_partitions(
        function->call({Value::of(dims), Value::of(std::string(dtype_name(dtype)))}), shape);
  };
}

}  // namespace runhooks
