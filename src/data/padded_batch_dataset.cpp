// Consecutive elements of the input, padded to one shape and stacked.
#include <algorithm>
#include <cstring>

#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

// TensorFlow's: 0, FALSE or "".
Tensor padding_value(const Value& value, DType dtype, const Args& args) {
  const auto* tensor = value.get_if<Tensor>();
  const auto* unknown = value.get_if<Output>();
  const auto* text = value.get_if<std::string>();
  const auto* flag = value.get_if<bool>();
  double number = 0;
  const bool is_string = dtype == DType::kString;
  if (value.is_null() || unknown) {
    if (!unknown || unknown->dtype() == dtype) return Tensor::zeros(dtype, Shape());
  } else if (tensor && tensor->num_elements() == 1) {
    if (tensor->dtype() == dtype) return tensor->reshaped(Shape());
    if (!is_string && tensor->dtype() != DType::kString) {
      return Tensor::number(dtype, tensor->number_at(0));
    }
  } else if (is_string && text) {
    return Tensor::string_scalar(*text);
  } else if (!is_string && (flag || value_number(value, &number))) {
    return Tensor::number(dtype, flag ? *flag : number);
  }
  invalid_argument("`padding_values` of ", args.owner(), " must be single values of type ",
                   dtype_name(dtype), ", not ",
                   unknown ? dtype_name(unknown->dtype()) : value.kind(), ".");
}

// NULL: as long as the longest; -1 and NA, too.
Shape padded_shape(const Value& value, const Shape& own, const Args& args) {
  if (value.is_null()) return own;
  Shape shape;
  double number;
  ValueList dims;
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    dims = **list;
  } else {
    dims = {value};
  }
  for (const Value& dim : dims) {
    if (!value_number(dim, &number)) {
      invalid_argument("`padded_shapes` of ", args.owner(), " must be whole numbers.");
    }
    shape.append(number >= 0 ? static_cast<int64_t>(number) : Shape::kUnknownDim);
  }
  if (own.has_rank() && own.rank() != shape.rank()) {
    invalid_argument("A component of shape ", own, " cannot be padded to ", shape,
                     ", which has another number of dimensions.");
  }
  return shape;
}

class PaddedBatchDataset : public Transformation {
 public:
  explicit PaddedBatchDataset(const Args& args)
      : Transformation(dataset_argument(args)),
        batch_size_(args.integer("batch_size")),
        drop_remainder_(args.flag("drop_remainder", false)) {
    const std::vector<Shape> own = input().shapes();
    const std::vector<DType> dtypes = input().dtypes();
    const ValueList none(own.size());
    const ValueList& shapes = args.has("padded_shapes") ? args.list("padded_shapes") : none;
    const ValueList& values = args.has("padding_values") ? args.list("padding_values") : none;
    if (shapes.size() != own.size() || values.size() != own.size()) {
      invalid_argument(args.owner(), " needs a shape and a value for each of the ",
                       static_cast<unsigned long>(own.size()), " components.");
    }
    for (size_t k = 0; k < own.size(); ++k) {
      shapes_.push_back(padded_shape(shapes[k], own[k], args));
      values_.push_back(padding_value(values[k], dtypes[k], args));
    }
  }
  std::vector<Shape> shapes() const override {
    return batched_shapes(shapes_, drop_remainder_ ? number_so_far("batch_size") : std::nullopt);
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  size_t batch_size() const { return static_cast<size_t>(batch_size_); }
  bool drops_remainder() const { return drop_remainder_; }
  const Shape& padded(size_t k) const { return shapes_[k]; }
  const Tensor& value(size_t k) const { return values_[k]; }

 private:
  int64_t batch_size_;
  bool drop_remainder_;
  std::vector<Shape> shapes_;
  Components values_;
};

// The shape that holds component k of all elements.
Shape common_shape(const std::vector<Components>& elements, size_t k, const Shape& wanted) {
  Shape shape = elements[0][k].shape();
  for (size_t i = 0; i < elements.size(); ++i) {
    const Shape& own = elements[i][k].shape();
    if (own.rank() != shape.rank()) {
      invalid_argument(
          "All elements in a batch must have the same rank when padding; element 0 "
          "has shape ",
          shape, ", element ", static_cast<unsigned long>(i), " ", own, ".");
    }
    for (int d = 0; d < shape.rank(); ++d) {
      const bool is_fixed = wanted.has_rank() && wanted.dim(d) != Shape::kUnknownDim;
      if (is_fixed && own.dim(d) > wanted.dim(d)) {
        fail(Code::kDataLoss, "Attempted to pad to a smaller size than the input element: element ",
             static_cast<unsigned long>(i), " has shape ", own, ", the batch ", wanted, ".");
      }
      shape.set_dim(d, is_fixed ? wanted.dim(d) : std::max(shape.dim(d), own.dim(d)));
    }
  }
  return shape;
}

// Copies an element of shape `own` into the corner of a place of shape `shape`, T by T.
template <typename T>
void copy_corner(const T* from, const Shape& own, T* to, const Shape& shape, int d = 0) {
  if (d == own.rank()) {
    *to = *from;
    return;
  }
  int64_t from_step = 1, to_step = 1;
  for (int i = d + 1; i < own.rank(); ++i) {
    from_step *= own.dim(i);
    to_step *= shape.dim(i);
  }
  for (int64_t i = 0; i < own.dim(d); ++i) {
    copy_corner(from + i * from_step, own, to + i * to_step, shape, d + 1);
  }
}

template <typename T>
void copy_padded(const std::vector<Components>& elements,
                 size_t k,
                 const Tensor& value,
                 const Shape& shape,
                 Tensor& batch) {
  T* to = batch.data<T>();
  const int64_t size = shape.num_elements();
  std::fill(to, to + batch.num_elements(), *value.data<T>());
  for (const Components& element : elements) {
    if (element[k].num_elements() > 0) {
      copy_corner(element[k].data<T>(), element[k].shape(), to, shape);
    }
    to += size;
  }
}

// Strings get codes of one dictionary.
void copy_padded_strings(const std::vector<Components>& elements,
                         size_t k,
                         const Tensor& value,
                         const Shape& shape,
                         Tensor& batch) {
  const auto dictionary = std::make_shared<StringDictionary>();
  batch.set_dictionary(dictionary);
  std::vector<Components> coded;
  for (const Components& element : elements) {
    Tensor codes(DType::kInt32, element[k].shape());
    for (int64_t i = 0; i < codes.num_elements(); ++i) {
      codes.data<int32_t>()[i] = dictionary->code(element[k].string_at(i));
    }
    coded.push_back({codes});
  }
  const Tensor padding = Tensor::scalar(dictionary->code(value.string_at(0)));
  copy_padded<int32_t>(coded, 0, padding, shape, batch);
}

class PaddedBatchIterator : public TransformationIterator<PaddedBatchDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  bool next(ElementSink& sink) override {
    std::vector<Components> elements;
    ComponentsSink element;
    while (elements.size() < dataset_->batch_size() && input_->next(element)) {
      elements.push_back(element.take());
    }
    const bool is_short = elements.size() < dataset_->batch_size();
    if (elements.empty() || (is_short && dataset_->drops_remainder())) return false;
    for (size_t k = 0; k < elements[0].size(); ++k) put(elements, k, sink);
    return true;
  }

 private:
  void put(const std::vector<Components>& elements, size_t k, ElementSink& sink) const {
    const Tensor& value = dataset_->value(k);
    const Shape shape = common_shape(elements, k, dataset_->padded(k));
    Shape with_rows = {static_cast<int64_t>(elements.size())};
    for (int d = 0; d < shape.rank(); ++d) with_rows.append(shape.dim(d));
    Tensor& batch = sink.allocate(static_cast<int>(k), value.dtype(), with_rows);
    if (value.dtype() == DType::kString) {
      copy_padded_strings(elements, k, value, shape, batch);
      return;
    }
    switch (dtype_size(value.dtype())) {
      case 1:
        return copy_padded<uint8_t>(elements, k, value, shape, batch);
      case 2:
        return copy_padded<uint16_t>(elements, k, value, shape, batch);
      case 4:
        return copy_padded<uint32_t>(elements, k, value, shape, batch);
      default:  // 8
        return copy_padded<uint64_t>(elements, k, value, shape, batch);
    }
  }
};

std::unique_ptr<DatasetIterator> PaddedBatchDataset::iterator(IteratorContext& context) const {
  return std::make_unique<PaddedBatchIterator>(self(this), context);
}

// R's function takes nested shapes and values apart before.
RUNHOOKS_REGISTER_DATASET(
    "PaddedBatchDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<PaddedBatchDataset>(args);
    },
    "",
    {"dataset: dataset.", "batch_size: number in [1, Inf). How many elements.",
     "padded_shapes = NULL: any. To which shape.", "padding_values = NULL: any. With what.",
     "drop_remainder = FALSE: flag. TRUE leaves a last batch out that is short."},
    "Consecutive elements padded to one shape and stacked.");

}  // namespace

}  // namespace runhooks
