#include "graph/indexed_slices.h"

#include <memory>

namespace runhooks {

Output dense_gradient(Graph& graph, const Gradient& gradient) {
  if (!gradient.is_indexed_slices()) return gradient.values;
  if (!gradient.dense_shape) {
    invalid_argument("IndexedSlices of '", gradient.values.name(),
                     "' without a dense_shape cannot become a tensor.");
  }
  const Output first =
      graph.op("Slice", {gradient.dense_shape, graph.int_vector({0}), graph.int_vector({1})});
  const Output rows = graph.op("Reshape", {first, graph.int_vector({})});
  return graph.op("UnsortedSegmentSum", {gradient.values, gradient.indices, rows});
}

const Gradient* indexed_slices_in(const Value& value) {
  const auto* object = value.get_if<std::shared_ptr<CoreObject>>();
  const auto* slices = object ? dynamic_cast<const IndexedSlices*>(object->get()) : nullptr;
  return slices ? &slices->rows() : nullptr;
}

Value gradient_value(const Gradient& gradient) {
  if (gradient.is_none()) return Value();
  if (!gradient.is_indexed_slices()) return Value::of(gradient.values);
  return Value::of(std::shared_ptr<CoreObject>(std::make_shared<IndexedSlices>(gradient)));
}

}  // namespace runhooks
