// Stacks elements into batches, and serializes elements.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace runhooks {

// Emits the elements stacked along a new first dimension. Throws an error that names the component
// if shapes differ.
void put_stacked(const std::vector<Components>& elements, ElementSink& sink);

// Stacks component `k` of all elements, which have the same type and shape.
Tensor stack_component(const std::vector<const Components*>& elements, size_t k);
// Returns a copy of row `i` of a tensor.
Tensor row_of(const Tensor& tensor, int64_t i);

// A dataset of elements in memory, such as a window. If its only component is a dataset, `inner` is
// a dataset with the types and shapes of that component.
std::shared_ptr<const Dataset> elements_dataset(std::vector<Components> elements,
                                                std::vector<DType> dtypes,
                                                std::vector<Shape> shapes,
                                                std::shared_ptr<const Dataset> inner = nullptr);

// Emits `elements` of `dataset` as a window: one dataset for each component of the elements, from
// component `first` of the sink on.
void put_window(const std::vector<const Components*>& elements,
                const Dataset& dataset,
                int first,
                ElementSink& sink);
// Returns a dataset without elements, with the types and shapes of component `k` of a window that
// put_window() makes from elements of `dataset`.
std::shared_ptr<const Dataset> window_type(const Dataset& dataset, size_t k);

// Returns the name of component `k` in a saved state.
std::string component_name(size_t k);

// Saves elements component by component, as one tensor if all elements have the same shape.
// Components that are datasets must be results of elements_dataset().
NamedTensors save_elements(const std::vector<const Components*>& elements);
// Restores elements of `dataset`. Throws kDataLoss on a wrong type or shape, or on more than
// `max_count` elements.
std::vector<Components> read_elements(const NamedTensors& state,
                                      const Dataset& dataset,
                                      int64_t max_count = std::numeric_limits<int64_t>::max());

}  // namespace runhooks
