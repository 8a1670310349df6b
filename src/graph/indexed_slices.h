// IndexedSlices: a sparse gradient as a value for scripts, and its conversion to a tensor.
#pragma once

#include <string>
#include <utility>

#include "graph/args.h"

namespace runhooks {

class IndexedSlices : public CoreObject {
 public:
  explicit IndexedSlices(Gradient rows) : rows_(std::move(rows)) {}
  const char* kind() const override { return "a gradient of rows"; }
  const Gradient& rows() const { return rows_; }

 private:
  Gradient rows_;
};

// Converts a sparse gradient to a dense tensor with zeros elsewhere. Returns a dense gradient
// unchanged.
Output dense_gradient(Graph& graph, const Gradient& gradient);

// Returns the sparse gradient that a value contains; NULL if the value is not an IndexedSlices.
const Gradient* indexed_slices_in(const Value& value);
// Converts a gradient to a value for scripts: a tensor, an IndexedSlices, or NULL for no gradient.
Value gradient_value(const Gradient& gradient);
// Applies a function to a tensor, or to the values of a sparse gradient.
template <typename Function>
Gradient transform_values(Gradient gradient, Function function) {
  gradient.values = function(gradient.values);
  return gradient;
}

}  // namespace runhooks
