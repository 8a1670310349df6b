#include "data/elements.h"

#include <algorithm>
#include <cstring>

namespace runhooks {

namespace {

std::string component_name(size_t k) {
  return str_cat("component_", static_cast<unsigned long>(k));
}

std::string element_name(size_t k, size_t i) {
  return str_cat(component_name(k), "/", static_cast<unsigned long>(i));
}

Shape with_rows(const Shape& row, size_t n) {
  Shape shape = {static_cast<int64_t>(n)};
  for (int d = 0; d < row.rank(); ++d) shape.append(row.dim(d));
  return shape;
}

// Strings keep their codes where all are of one dictionary; of many small ones one is made.
void copy_strings(Tensor& to, const std::vector<const Components*>& elements, size_t k) {
  const auto& first = (*elements[0])[k].dictionary();
  const bool is_one = std::all_of(elements.begin(), elements.end(), [&](const Components* element) {
    return (*element)[k].dictionary() == first;
  });
  to.set_dictionary(is_one ? first : std::make_shared<StringDictionary>());
  auto* codes = to.data<int32_t>();
  for (const Components* element : elements) {
    const Tensor& from = (*element)[k];
    for (int64_t i = 0; i < from.num_elements(); ++i) {
      *codes++ = is_one ? from.data<int32_t>()[i] : to.dictionary()->code(from.string_at(i));
    }
  }
}

void copy_stacked(Tensor& to, const std::vector<const Components*>& elements, size_t k) {
  if (to.dtype() == DType::kString) {
    copy_strings(to, elements, k);
    return;
  }
  auto* place = static_cast<char*>(to.raw());
  for (const Components* element : elements) {
    const size_t bytes = (*element)[k].num_bytes();
    if (bytes > 0) std::memcpy(place, (*element)[k].raw(), bytes);
    place += bytes;
  }
}

std::vector<const Components*> pointers(const std::vector<Components>& elements) {
  std::vector<const Components*> all;
  for (const Components& element : elements) all.push_back(&element);
  return all;
}

bool is_uniform(const std::vector<const Components*>& elements, size_t k) {
  return std::all_of(elements.begin(), elements.end(), [&](const Components* element) {
    return (*element)[k].shape() == (*elements[0])[k].shape();
  });
}

}  // namespace

void put_stacked(const std::vector<Components>& elements, ElementSink& sink) {
  const std::vector<const Components*> all = pointers(elements);
  for (size_t k = 0; k < elements[0].size(); ++k) {
    const Tensor& first = elements[0][k];
    if (first.dtype() == DType::kVariant) {
      fail(Code::kUnimplemented,
           "Datasets cannot be batched; dataset_flat_map() makes elements of "
           "them first.");
    }
    for (size_t i = 1; i < elements.size(); ++i) {
      if (elements[i][k].shape() == first.shape()) continue;
      invalid_argument("Cannot batch tensors with different shapes in component ",
                       static_cast<unsigned long>(k), ". First element had shape ", first.shape(),
                       " and element ", static_cast<unsigned long>(i), " had shape ",
                       elements[i][k].shape(), ".");
    }
    const Shape shape = with_rows(first.shape(), elements.size());
    copy_stacked(sink.allocate(static_cast<int>(k), first.dtype(), shape), all, k);
  }
}

Tensor stack_component(const std::vector<const Components*>& elements, size_t k) {
  const Tensor& first = (*elements[0])[k];
  Tensor stacked(first.dtype(), with_rows(first.shape(), elements.size()));
  copy_stacked(stacked, elements, k);
  return stacked;
}

Tensor row_of(const Tensor& tensor, int64_t i) {
  Shape shape;
  for (int d = 1; d < tensor.shape().rank(); ++d) shape.append(tensor.shape().dim(d));
  Tensor row(tensor.dtype(), shape);
  if (tensor.dtype() == DType::kString) row.set_dictionary(tensor.dictionary());
  const size_t bytes = row.num_bytes();
  if (bytes > 0) {
    std::memcpy(row.raw(), static_cast<const char*>(tensor.raw()) + static_cast<size_t>(i) * bytes,
                bytes);
  }
  return row;
}

NamedTensors save_elements(const std::vector<const Components*>& elements) {
  NamedTensors state = {{"size", Tensor::scalar(static_cast<int64_t>(elements.size()))}};
  if (elements.empty()) return state;
  for (size_t k = 0; k < elements[0]->size(); ++k) {
    if ((*elements[0])[k].dtype() == DType::kVariant) {
      fail(Code::kUnimplemented, "Elements that are datasets cannot be saved.");
    }
    if (is_uniform(elements, k)) {
      state[component_name(k)] = stack_component(elements, k);
      continue;
    }
    for (size_t i = 0; i < elements.size(); ++i) state[element_name(k, i)] = (*elements[i])[k];
  }
  return state;
}

namespace {

Tensor read_component(const NamedTensors& state, size_t k, size_t i, size_t size, DType dtype) {
  const auto all = state.find(component_name(k));
  if (all != state.end()) {
    const Tensor& tensor = all->second;
    const bool has_row = tensor.dtype() == dtype && tensor.shape().rank() > 0 &&
                         tensor.shape().dim(0) == static_cast<int64_t>(size);
    return has_row ? row_of(tensor, static_cast<int64_t>(i)) : Tensor();
  }
  const auto own = state.find(element_name(k, i));
  return own == state.end() ? Tensor() : own->second;
}

}  // namespace

std::vector<Components> read_elements(const NamedTensors& state,
                                      const std::vector<DType>& dtypes,
                                      const std::vector<Shape>& shapes) {
  const int64_t size = state_integer(state, "size");
  std::vector<Components> elements;
  if (size < 0) fail(Code::kDataLoss, "There cannot be ", size, " queued elements.");
  for (int64_t i = 0; i < size; ++i) {
    Components element;
    for (size_t k = 0; k < dtypes.size(); ++k) {
      Tensor value =
          read_component(state, k, static_cast<size_t>(i), static_cast<size_t>(size), dtypes[k]);
      if (!value.is_valid() || value.dtype() != dtypes[k] ||
          !shapes[k].is_compatible_with(value.shape())) {
        fail(Code::kDataLoss, "A queued element has no component ", static_cast<unsigned long>(k),
             " of type ", dtype_name(dtypes[k]), " and shape ", shapes[k], ".");
      }
      element.push_back(std::move(value));
    }
    elements.push_back(std::move(element));
  }
  return elements;
}

}  // namespace runhooks
