// IndexedSlices, a gradient of rows as a value that scripts hold, and its way to a tensor.
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

// A gradient of rows as a tensor of the variable's shape, zeros elsewhere; another one as it is.
Output dense_gradient(Graph& graph, const Gradient& gradient);

// NULL where the value is no IndexedSlices.
const Gradient* rows_in(const Value& value);
// A tensor, IndexedSlices, or NULL for none.
Value gradient_value(const Gradient& gradient);
// What a function does to a tensor, done to the values of the rows where it is a gradient of such.
template <typename Change>
Gradient change_values(Gradient gradient, Change change) {
  gradient.values = change(gradient.values);
  return gradient;
}

}  // namespace runhooks
