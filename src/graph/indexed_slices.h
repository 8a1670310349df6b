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

// A sparse gradient as a dense tensor with zeros elsewhere; a dense one unchanged.
Output dense_gradient(Graph& graph, const Gradient& gradient);

// The sparse gradient that a value contains; NULL if it is not an IndexedSlices.
const Gradient* indexed_slices_in(const Value& value);
// A gradient as a value for scripts: a tensor, an IndexedSlices, or NULL for no gradient.
Value gradient_value(const Gradient& gradient);
// Applies a function to a tensor, or to the values of a sparse gradient.
template <typename Function>
Gradient transform_values(Gradient gradient, Function function) {
  gradient.values = function(gradient.values);
  return gradient;
}

}  // namespace runhooks
