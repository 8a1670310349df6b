#include "data/elements.h"

#include <algorithm>
#include <cstring>

#include "base/interrupt.h"
#include "data/indexed_iterator.h"
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

std::string element_name(size_t k, size_t i) {
  return str_cat(component_name(k), "/", static_cast<unsigned long>(i));
}

// Keeps codes if all elements share a dictionary; otherwise builds a new dictionary.
void copy_strings(Tensor& to, const std::vector<const Components*>& elements, size_t k) {
  const auto& first = (*elements[0])[k].dictionary();
  const bool shares_dictionary =
      std::all_of(elements.begin(), elements.end(),
                  [&](const Components* element) { return (*element)[k].dictionary() == first; });
  to.set_dictionary(shares_dictionary ? first : std::make_shared<StringDictionary>());
  auto* codes = to.data<int32_t>();
  InterruptPoll poll;
  for (const Components* element : elements) {
    poll();
    const Tensor& from = (*element)[k];
    for (int64_t i = 0; i < from.num_elements(); ++i) {
      *codes++ =
          shares_dictionary ? from.data<int32_t>()[i] : to.dictionary()->code(from.string_at(i));
    }
  }
}

void copy_stacked(Tensor& to, const std::vector<const Components*>& elements, size_t k) {
  if (to.dtype() == DType::kString) {
    copy_strings(to, elements, k);
    return;
  }
  auto* out = static_cast<char*>(to.raw());
  InterruptPoll poll;
  for (const Components* element : elements) {
    poll();
    const size_t bytes = (*element)[k].num_bytes();
    if (bytes > 0) std::memcpy(out, (*element)[k].raw(), bytes);
    out += bytes;
  }
}

std::vector<const Components*> pointers_to(const std::vector<Components>& elements) {
  std::vector<const Components*> result;
  for (const Components& element : elements) result.push_back(&element);
  return result;
}

bool have_equal_shapes(const std::vector<const Components*>& elements, size_t k) {
  return std::all_of(elements.begin(), elements.end(), [&](const Components* element) {
    return (*element)[k].shape() == (*elements[0])[k].shape();
  });
}

}  // namespace

std::string component_name(size_t k) {
  return str_cat("component_", static_cast<unsigned long>(k));
}

void put_stacked(const std::vector<Components>& elements, ElementSink& sink) {
  const std::vector<const Components*> element_pointers = pointers_to(elements);
  for (size_t k = 0; k < elements[0].size(); ++k) {
    const Tensor& first = elements[0][k];
    if (first.dtype() == DType::kVariant) {
      fail(Code::kUnimplemented,
           "Datasets cannot be batched; dataset_flat_map() makes elements of "
           "them first.");
    }
    InterruptPoll poll;
    for (size_t i = 1; i < elements.size(); ++i) {
      poll();
      if (elements[i][k].shape() == first.shape()) continue;
      invalid_argument("Cannot batch tensors with different shapes in component ",
                       static_cast<unsigned long>(k), ". First element had shape ", first.shape(),
                       " and element ", static_cast<unsigned long>(i), " had shape ",
                       elements[i][k].shape(), ".");
    }
    const Shape shape = batched_shape(first.shape(), static_cast<int64_t>(elements.size()));
    copy_stacked(sink.allocate(static_cast<int>(k), first.dtype(), shape), element_pointers, k);
  }
}

Tensor stack_component(const std::vector<const Components*>& elements, size_t k) {
  const Tensor& first = (*elements[0])[k];
  Tensor stacked(first.dtype(),
                 batched_shape(first.shape(), static_cast<int64_t>(elements.size())));
  copy_stacked(stacked, elements, k);
  return stacked;
}

Tensor row_of(const Tensor& tensor, int64_t i) {
  Tensor row(tensor.dtype(), element_shape(tensor.shape()));
  if (tensor.dtype() == DType::kString) row.set_dictionary(tensor.dictionary());
  const size_t bytes = row.num_bytes();
  if (bytes > 0) {
    std::memcpy(row.raw(), static_cast<const char*>(tensor.raw()) + static_cast<size_t>(i) * bytes,
                bytes);
  }
  return row;
}

// --- datasets of elements in memory

namespace {

class ElementsDataset : public Dataset {
 public:
  ElementsDataset(std::vector<Components> elements,
                  std::vector<DType> dtypes,
                  std::vector<Shape> shapes,
                  std::shared_ptr<const Dataset> inner)
      : elements_(std::move(elements)),
        dtypes_(std::move(dtypes)),
        shapes_(std::move(shapes)),
        inner_(std::move(inner)) {}
  std::vector<DType> dtypes() const override { return dtypes_; }
  std::vector<Shape> shapes() const override { return shapes_; }
  int64_t cardinality() const override { return static_cast<int64_t>(elements_.size()); }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  std::string description() const override { return "Elements()"; }
  std::shared_ptr<const Dataset> inner(size_t k) const override {
    return inner_ ? inner_ : Dataset::inner(k);
  }
  const std::vector<Components>& elements() const { return elements_; }
  int64_t num_rows() const { return static_cast<int64_t>(elements_.size()); }
  void put(int64_t number, ElementSink& sink) const {
    sink.emit(elements_[static_cast<size_t>(number)]);
  }

 private:
  std::vector<Components> elements_;
  std::vector<DType> dtypes_;
  std::vector<Shape> shapes_;
  std::shared_ptr<const Dataset> inner_;
};

std::unique_ptr<DatasetIterator> ElementsDataset::iterator(IteratorContext&) const {
  return std::make_unique<IndexedIterator<ElementsDataset>>(self(this));
}

NamedTensors save_dataset(const Tensor& variant) {
  const auto dataset = std::static_pointer_cast<const Dataset>(variant.object());
  const auto* in_memory = dynamic_cast<const ElementsDataset*>(dataset.get());
  if (!in_memory) fail(Code::kUnimplemented, "Elements that are datasets cannot be saved.");
  NamedTensors state = save_elements(pointers_to(in_memory->elements()));
  std::vector<int64_t> dtypes;
  for (const DType dtype : in_memory->dtypes()) dtypes.push_back(static_cast<int64_t>(dtype));
  state["dtypes"] = Tensor::vector(dtypes);
  return state;
}

Tensor restore_dataset(const NamedTensors& state, const Dataset& dataset) {
  const std::vector<DType> dtypes = dataset.dtypes();
  std::vector<int64_t> dtype_codes;
  for (const DType dtype : dtypes) dtype_codes.push_back(static_cast<int64_t>(dtype));
  if (state_integers(state, "dtypes") != dtype_codes) {
    fail(Code::kDataLoss, "A saved dataset element has the wrong types.");
  }
  const bool is_nested = dtypes.size() == 1 && dtypes[0] == DType::kVariant;
  return Tensor::variant(std::const_pointer_cast<Dataset>(
      elements_dataset(read_elements(state, dataset), dtypes, dataset.shapes(),
                       is_nested ? dataset.inner(0) : nullptr)));
}

}  // namespace

std::shared_ptr<const Dataset> elements_dataset(std::vector<Components> elements,
                                                std::vector<DType> dtypes,
                                                std::vector<Shape> shapes,
                                                std::shared_ptr<const Dataset> inner) {
  return std::make_shared<ElementsDataset>(std::move(elements), std::move(dtypes),
                                           std::move(shapes), std::move(inner));
}

namespace {

std::shared_ptr<const Dataset> window_of(std::vector<Components> column,
                                         const Dataset& dataset,
                                         size_t k) {
  const DType dtype = dataset.dtypes()[k];
  return elements_dataset(std::move(column), {dtype}, {dataset.shapes()[k]},
                          dtype == DType::kVariant ? dataset.inner(k) : nullptr);
}

}  // namespace

void put_window(const std::vector<const Components*>& elements,
                const Dataset& dataset,
                int first,
                ElementSink& sink) {
  for (size_t k = 0; k < dataset.dtypes().size(); ++k) {
    std::vector<Components> column;
    for (const Components* element : elements) column.push_back({(*element)[k]});
    const auto window = window_of(std::move(column), dataset, k);
    sink.put(first + static_cast<int>(k),
             Tensor::variant(std::const_pointer_cast<Dataset>(window)));
  }
}

std::shared_ptr<const Dataset> window_type(const Dataset& dataset, size_t k) {
  return window_of({}, dataset, k);
}

// --- serialization

NamedTensors save_elements(const std::vector<const Components*>& elements) {
  NamedTensors state = {{"size", Tensor::scalar(static_cast<int64_t>(elements.size()))}};
  if (elements.empty()) return state;
  for (size_t k = 0; k < elements[0]->size(); ++k) {
    if ((*elements[0])[k].dtype() == DType::kVariant) {
      for (size_t i = 0; i < elements.size(); ++i) {
        add_subtree(state, element_name(k, i) + "/", save_dataset((*elements[i])[k]));
      }
      continue;
    }
    if (have_equal_shapes(elements, k)) {
      state[component_name(k)] = stack_component(elements, k);
      continue;
    }
    for (size_t i = 0; i < elements.size(); ++i) state[element_name(k, i)] = (*elements[i])[k];
  }
  return state;
}

namespace {

// Limits the number of saved elements that contain no values. A small damaged file could claim to
// have any number of them.
constexpr int64_t kMaxEmptyElements = int64_t{1} << 20;

// True if the state is too small for this number of elements.
bool exceeds_state(int64_t size, const NamedTensors& state) {
  int64_t capacity = kMaxEmptyElements;
  for (const auto& item : state) capacity += item.second.num_elements();
  return size > capacity;
}

Tensor read_component(
    const NamedTensors& state, size_t k, size_t i, size_t size, const Dataset& dataset) {
  const DType dtype = dataset.dtypes()[k];
  if (dtype == DType::kVariant) {
    return restore_dataset(subtree(state, element_name(k, i) + "/"), *dataset.inner(k));
  }
  const auto stacked = state.find(component_name(k));
  if (stacked != state.end()) {
    const Tensor& tensor = stacked->second;
    const bool has_row = tensor.dtype() == dtype && tensor.shape().rank() > 0 &&
                         tensor.shape().dim(0) == static_cast<int64_t>(size);
    return has_row ? row_of(tensor, static_cast<int64_t>(i)) : Tensor();
  }
  const auto separate = state.find(element_name(k, i));
  return separate == state.end() ? Tensor() : separate->second;
}

}  // namespace

std::vector<Components> read_elements(const NamedTensors& state,
                                      const Dataset& dataset,
                                      int64_t max_count) {
  const std::vector<DType> dtypes = dataset.dtypes();
  const std::vector<Shape> shapes = dataset.shapes();
  const int64_t size = state_count(state, "size", max_count);
  std::vector<Components> elements;
  // Several elements without components are invalid. A single one is possible, for example the
  // results of a function that returns nothing.
  if ((dtypes.empty() && size > 1) || exceeds_state(size, state)) {
    fail(Code::kDataLoss, "Invalid number of saved elements: ", size, ".");
  }
  for (int64_t i = 0; i < size; ++i) {
    Components element;
    for (size_t k = 0; k < dtypes.size(); ++k) {
      Tensor value =
          read_component(state, k, static_cast<size_t>(i), static_cast<size_t>(size), dataset);
      if (!value.is_valid() || value.dtype() != dtypes[k] ||
          !shapes[k].is_compatible_with(value.shape())) {
        fail(Code::kDataLoss, "A saved element lacks component ", static_cast<unsigned long>(k),
             " of type ", dtype_name(dtypes[k]), " and shape ", shapes[k], ".");
      }
      element.push_back(std::move(value));
    }
    elements.push_back(std::move(element));
  }
  return elements;
}

}  // namespace runhooks
