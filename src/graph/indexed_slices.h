// IndexedSlices, a sparse gradient as a value for scripts, and its conversion to a tensor.
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

// Converts IndexedSlices to a tensor of the variable's shape. Returns a dense gradient unchanged.
Output dense_gradient(Graph& graph, const Gradient& gradient);

// NULL if the value is not IndexedSlices.
const Gradient* rows_in(const Value& value);
// Returns a tensor, IndexedSlices, or NULL for no gradient.
Value gradient_value(const Gradient& gradient);
// Applies `change` to a dense gradient or to the values of IndexedSlices.
template <typename Change>
Gradient change_values(Gradient gradient, Change change) {
  gradient.values = change(gradient.values);
  return gradient;
}

}  // namespace runhooks
