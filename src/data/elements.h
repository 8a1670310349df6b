// What lives here: elements side by side: stacked to a batch, and as a part of a state.
// Who may use it: data.
// What it must not know: where elements come from, R.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace runhooks {

// The elements stacked along a new first dimension, into the sink. Elements of different shapes are
// an error that says which.
void put_stacked(const std::vector<Components>& elements, ElementSink& sink);

// Component `k` of all elements as one tensor; all are of its type and shape.
Tensor stack_component(const std::vector<const Components*>& elements, size_t k);
// Row `i` of a tensor, in memory of its own.
Tensor row_of(const Tensor& tensor, int64_t i);

// A dataset of elements at hand, such as a window is; `inner`: what its only component is of, where
// that is a dataset.
std::shared_ptr<const Dataset> elements_dataset(std::vector<Components> elements,
                                                std::vector<DType> dtypes,
                                                std::vector<Shape> shapes,
                                                std::shared_ptr<const Dataset> inner = nullptr);

// What component `k` is called in a state.
std::string component_name(size_t k);

// Elements as they are kept in a state: component by component, in one tensor where all have one
// shape. Components that are datasets must be of elements at hand.
NamedTensors save_elements(const std::vector<const Components*>& elements);
// Elements of this dataset. Those of another type or shape, or more than `most`, are kDataLoss.
std::vector<Components> read_elements(const NamedTensors& state,
                                      const Dataset& of,
                                      int64_t most = std::numeric_limits<int64_t>::max());

}  // namespace runhooks
