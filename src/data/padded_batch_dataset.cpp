// Pads consecutive elements of the input to one shape and stacks them.
#include <algorithm>
#include <cstring>

#include "base/interrupt.h"
#include "data/column_views.h"
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

// Converts an item of `padding_values` to a scalar. NULL becomes TensorFlow's default: 0, FALSE or
// "".
Tensor padding_scalar(const Value& value, DType dtype, const Args& args) {
  const auto* tensor = value.get_if<Tensor>();
  const auto* free_tensor = value.get_if<Output>();
  const auto* text = value.get_if<std::string>();
  const auto* flag = value.get_if<bool>();
  double number = 0;
  const bool is_string = dtype == DType::kString;
  if (value.is_null() || free_tensor) {
    if (!free_tensor || free_tensor->dtype() == dtype) return Tensor::zeros(dtype, Shape());
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
                   free_tensor ? dtype_name(free_tensor->dtype()) : value.kind(), ".");
}

// Converts an item of `padded_shapes` to a shape; NULL means the shape of the input. Unknown
// dimensions, -1 and NA are padded to the longest element of the batch.
Shape padded_shape(const Value& value, const Shape& element_shape, const Args& args) {
  if (value.is_null()) return element_shape;
  Shape shape;
  double number;
  ValueList dims;
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    dims = **list;
  } else {
    dims = {value};
  }
  for (const Value& dim : dims) {
    const auto* tensor = dim.get_if<Tensor>();
    if (dim.get_if<Output>()) {  // a graph tensor, whose value is not known yet
      number = -1;
    } else if (tensor && tensor->num_elements() == 1 && tensor->dtype() != DType::kString) {
      number = tensor->number_at(0);
    } else if (!value_number(dim, &number)) {
      invalid_argument("`padded_shapes` of ", args.owner(), " must be whole numbers.");
    }
    shape.append(number >= 0 ? static_cast<int64_t>(number) : Shape::kUnknownDim);
  }
  if (element_shape.has_rank() && element_shape.rank() != shape.rank()) {
    invalid_argument("A component of shape ", element_shape, " cannot be padded to ", shape,
                     ": the number of dimensions differs.");
  }
  return shape;
}

class PaddedBatchDataset : public Transformation {
 public:
  explicit PaddedBatchDataset(const Args& args)
      : Transformation(dataset_argument(args)),
        batch_size_(args.integer("batch_size")),
        drop_remainder_(args.flag("drop_remainder", false)) {
    const std::vector<Shape> input_shapes = input().shapes();
    const std::vector<DType> dtypes = input().dtypes();
    const ValueList defaults(input_shapes.size());
    const ValueList& shapes = args.has("padded_shapes") ? args.list("padded_shapes") : defaults;
    const ValueList& values = args.has("padding_values") ? args.list("padding_values") : defaults;
    if (shapes.size() != input_shapes.size() || values.size() != input_shapes.size()) {
      invalid_argument(args.owner(), " needs a shape and a value for each of the ",
                       static_cast<unsigned long>(input_shapes.size()), " components.");
    }
    for (size_t k = 0; k < input_shapes.size(); ++k) {
      shapes_.push_back(padded_shape(shapes[k], input_shapes[k], args));
      values_.push_back(padding_scalar(values[k], dtypes[k], args));
    }
  }
  std::vector<Shape> shapes() const override {
    return batched_shapes(shapes_,
                          drop_remainder_ ? constant_or_nullopt("batch_size") : std::nullopt);
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  int64_t cardinality() const override {
    return batched_cardinality(input().cardinality(), batch_size_, drop_remainder_);
  }
  size_t batch_size() const { return static_cast<size_t>(batch_size_); }
  bool drops_remainder() const { return drop_remainder_; }
  const Shape& target_shape(size_t k) const { return shapes_[k]; }
  const Tensor& padding_value(size_t k) const { return values_[k]; }

 private:
  bool commutes_with_sharding() const override { return true; }
  int64_t batch_size_;
  bool drop_remainder_;
  std::vector<Shape> shapes_;
  Components values_;
};

// Copies an element of shape `element_shape` into the corner of a larger array of shape `shape`.
template <typename T>
void copy_corner(const T* from, const Shape& element_shape, T* to, const Shape& shape, int d = 0) {
  if (d == element_shape.rank()) {
    *to = *from;
    return;
  }
  int64_t from_step = 1, to_step = 1;
  for (int i = d + 1; i < element_shape.rank(); ++i) {
    from_step *= element_shape.dim(i);
    to_step *= shape.dim(i);
  }
  for (int64_t i = 0; i < element_shape.dim(d); ++i) {
    copy_corner(from + i * from_step, element_shape, to + i * to_step, shape, d + 1);
  }
}

// Collects one component of the elements of a batch. Their bytes are copied into large blocks,
// because freeing many small tensors is slow.
class ColumnBuffer {
 public:
  explicit ColumnBuffer(DType dtype) : dtype_(dtype) {
    if (dtype == DType::kString) dictionary_ = std::make_shared<StringDictionary>();
  }
  void add(const Tensor& element) {
    if (runs_.empty() || runs_.back().shape != element.shape()) {
      runs_.push_back({element.shape(), 0});
    }
    ++runs_.back().count;
    if (!dictionary_) return add_bytes(element.raw(), element.num_bytes());
    codes_.clear();
    for (int64_t i = 0; i < element.num_elements(); ++i) {
      codes_.push_back(dictionary_->code(element.string_at(i)));
    }
    add_bytes(codes_.data(), codes_.size() * sizeof(int32_t));
  }

  // Returns the smallest shape that holds all elements.
  Shape generalize_shapes(const Shape& target_shape) const {
    Shape shape = runs_[0].shape;
    int64_t element = 0;
    for (const Run& run : runs_) {
      check_shapes(run.shape, element, shape, target_shape);
      for (int d = 0; d < shape.rank(); ++d) {
        const bool is_fixed = target_shape.has_rank() && target_shape.dim(d) != Shape::kUnknownDim;
        shape.set_dim(d, is_fixed ? target_shape.dim(d) : std::max(shape.dim(d), run.shape.dim(d)));
      }
      element += run.count;
    }
    return shape;
  }

  // Writes each element into the corner of its row of `batch`; the rest is `padding`.
  void put(const Tensor& padding, const Shape& shape, Tensor& batch) const {
    if (dictionary_) {
      batch.set_dictionary(dictionary_);
      return put_as<int32_t>(dictionary_->code(padding.string_at(0)), shape, batch);
    }
    dispatch_by_size(dtype_,
                     [&](auto bits) { put_as(*padding.data<decltype(bits)>(), shape, batch); });
  }

 private:
  // Consecutive elements of equal shape.
  struct Run {
    Shape shape;
    int64_t count;
  };
  // Memory for several whole elements.
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size, used;
  };

  static void check_shapes(const Shape& element_shape,
                           int64_t element,
                           const Shape& shape,
                           const Shape& target_shape) {
    if (element_shape.rank() != shape.rank()) {
      invalid_argument(
          "All elements in a batch must have the same rank when padding; element 0 "
          "has shape ",
          shape, ", element ", element, " ", element_shape, ".");
    }
    for (int d = 0; target_shape.has_rank() && d < element_shape.rank(); ++d) {
      if (target_shape.dim(d) == Shape::kUnknownDim || element_shape.dim(d) <= target_shape.dim(d))
        continue;
      fail(Code::kDataLoss, "Attempted to pad to a smaller size than the input element: element ",
           element, " has shape ", element_shape, ", the batch ", target_shape, ".");
    }
  }
  void add_bytes(const void* bytes, size_t size) {
    constexpr size_t kFirstBlock = size_t{1} << 10, kMaxBlock = size_t{1} << 20;
    if (size == 0) return;
    if (blocks_.empty() || blocks_.back().size - blocks_.back().used < size) {
      const size_t default_size =
          blocks_.empty() ? kFirstBlock : std::min(kMaxBlock, 2 * blocks_.back().size);
      const size_t capacity = std::max(default_size, size);
      check_memory(1, capacity);
      blocks_.push_back({std::unique_ptr<char[]>(new char[capacity]), capacity, 0});
    }
    Block& block = blocks_.back();
    std::memcpy(block.bytes.get() + block.used, bytes, size);
    block.used += size;
  }
  template <typename T>
  void put_as(T padding, const Shape& shape, Tensor& batch) const {
    T* to = batch.data<T>();
    const int64_t slot_elements = shape.num_elements();
    std::fill(to, to + batch.num_elements(), padding);
    InterruptPoll poll;
    size_t block = 0, at = 0;
    for (const Run& run : runs_) {
      const int64_t count = run.shape.num_elements();
      for (int64_t i = 0; i < run.count; ++i, to += slot_elements) {
        if (count == 0) continue;
        poll();
        if (at == blocks_[block].used) {
          ++block;
          at = 0;
        }
        copy_corner(reinterpret_cast<const T*>(blocks_[block].bytes.get() + at), run.shape, to,
                    shape);
        at += static_cast<size_t>(count) * sizeof(T);
      }
    }
  }

  DType dtype_;
  std::shared_ptr<StringDictionary> dictionary_;
  std::vector<int32_t> codes_;
  std::vector<Run> runs_;
  std::vector<Block> blocks_;
};

class PaddedBatchIterator : public TransformationIterator<PaddedBatchDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  bool next(ElementSink& sink) override {
    std::vector<ColumnBuffer> columns;
    for (const DType dtype : dataset_->dtypes()) columns.emplace_back(dtype);
    size_t num_read = 0;
    ComponentsSink element;
    InterruptPoll poll;
    for (; num_read < dataset_->batch_size() && input_->next(element); ++num_read) {
      poll();
      const Components components = element.take();
      for (size_t k = 0; k < columns.size(); ++k) columns[k].add(components[k]);
    }
    const bool is_short = num_read < dataset_->batch_size();
    if (num_read == 0 || (is_short && dataset_->drops_remainder())) return false;
    for (size_t k = 0; k < columns.size(); ++k) put(columns[k], num_read, k, sink);
    return true;
  }

 private:
  void put(const ColumnBuffer& column, size_t rows, size_t k, ElementSink& sink) const {
    const Tensor& padding = dataset_->padding_value(k);
    const Shape shape = column.generalize_shapes(dataset_->target_shape(k));
    column.put(padding, shape,
               sink.allocate(static_cast<int>(k), padding.dtype(),
                             batched_shape(shape, static_cast<int64_t>(rows))));
  }
};

std::unique_ptr<DatasetIterator> PaddedBatchDataset::iterator(IteratorContext& context) const {
  return std::make_unique<PaddedBatchIterator>(self(this), context);
}

// The R function flattens nested lists of shapes and values before it calls this class.
RUNHOOKS_REGISTER_DATASET(PaddedBatchDataset,
                          "",
                          {"dataset: dataset.",
                           "batch_size: number in [1, Inf). Number of elements per batch.",
                           "padded_shapes = NULL: any. Shape after padding.",
                           "padding_values = NULL: any. Padding value.",
                           "drop_remainder = FALSE: flag. TRUE drops an incomplete last batch."},
                          "Pad consecutive elements to one shape and batch them.");

}  // namespace

}  // namespace runhooks
