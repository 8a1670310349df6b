#include "estimators/canned.h"

#include <algorithm>

namespace runhooks {

namespace {

std::shared_ptr<Optimizer> from_value(const Value& value,
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
    return from_value((*function)->call({}), name, named_rate);
  }
  invalid_argument(
      "`", name,
      "` must be the name of an optimizer, an optimizer or a function that returns one, not ",
      value.kind(), ".");
}

}  // namespace

std::shared_ptr<Optimizer> optimizer_of(const Args& args,
                                        const std::string& name,
                                        const std::string& missing,
                                        double named_rate,
                                        double missing_rate) {
  const Value* value = args.find(name);
  if (!value) return from_value(Value::of(missing), name, missing_rate);
  return from_value(*value, name, named_rate);
}

Partitioner size_partitioner() {
  // TensorFlow cuts into as many parts as there are parameter servers at most; here there is one.
  return [](const Shape& shape, DType) {
    return std::vector<int64_t>(static_cast<size_t>(std::max(shape.rank(), 1)), 1);
  };
}

}  // namespace runhooks
