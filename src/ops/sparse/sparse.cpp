// Sparse tensors in TensorFlow's format (indices [n, rank], values [n], shape [rank]), and ops that
// find, gather and count elements.
#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "ops/array/copy_elements.h"
#include "ops/array/index_reader.h"
#include "ops/math/integer_math.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

class WhereKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    line_coordinates_.resize(static_cast<size_t>(std::max(c.input(0).shape().rank(), 1)));
  }
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    if (x.dtype() == DType::kBool) {
      const bool* flags = x.data<bool>();
      find(c, [flags](int64_t i) { return flags[i]; });
    } else {
      find(c, [&x](int64_t i) { return x.number_at(i) != 0; });
    }
  }

 private:
  template <typename IsTrue>
  void find(KernelContext& c, const IsTrue& is_true) {
    const Shape& shape = c.input(0).shape();
    const int last = shape.rank() - 1;
    const int64_t n = c.input(0).num_elements();
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) count += is_true(i);
    Tensor& out = c.allocate_output(0, DType::kInt64, Shape{count, shape.rank()});
    if (last < 0) return;
    auto* coordinates = out.data<int64_t>();
    std::fill(line_coordinates_.begin(), line_coordinates_.end(), 0);
    const int64_t width = shape.dim(last);
    // A line is the elements along the last axis.
    for (int64_t i = 0; i < n; next_line(shape)) {
      for (int64_t j = 0; j < width; ++j, ++i) {
        if (!is_true(i)) continue;
        coordinates = std::copy_n(line_coordinates_.begin(), last, coordinates);
        *coordinates++ = j;
      }
    }
  }
  void next_line(const Shape& shape) {
    for (int d = shape.rank() - 2; d >= 0; --d) {
      int64_t& coordinate = line_coordinates_[static_cast<size_t>(d)];
      if (++coordinate < shape.dim(d)) return;
      coordinate = 0;
    }
  }
  std::vector<int64_t> line_coordinates_;  // coordinates of the current line, without the last axis
};

// Returns the offset, in a tensor of shape `dims`, of the element whose coordinates are row `row`
// of `indices`. Throws if they are out of bounds.
inline int64_t offset_of(const Indices& indices, int64_t row, const std::vector<int64_t>& dims) {
  int64_t offset = 0;
  const auto rank = static_cast<int64_t>(dims.size());
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t index = indices[row * rank + d], size = dims[static_cast<size_t>(d)];
    if (index < 0 || index >= size) {
      invalid_argument("indices[", row, ",", d, "] = ", index, " is not in [0, ", size, ").");
    }
    offset = offset * size + index;
  }
  return offset;
}

void shape_from_value(ShapeContext& c, int input) {
  const Tensor* shape = c.value(input);
  const int64_t rank = c.with_rank(input, 1).dim(0);
  c.set_output(0, shape      ? Shape(shape->integers())
                  : rank < 0 ? Shape::unknown()
                             : Shape::unknown_of_rank(static_cast<int>(rank)));
}

class SparseToDenseKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& values = c.input(2);
    Tensor& out = c.output(0);
    const Indices indices(c.input(0));
    const std::vector<int64_t> dims = c.input(1).integers();
    const int64_t count = c.input(0).shape().rank() == 0 ? 1 : c.input(0).shape().dim(0);
    element_copier_.begin(out, values);
    element_copier_.fill(c.input(3), 0, 0, out.num_elements());
    for (int64_t i = 0; i < count; ++i) {
      element_copier_.copy(values, values.shape().rank() == 0 ? 0 : i, offset_of(indices, i, dims),
                           1);
    }
  }

 private:
  ElementCopier element_copier_;
};

// Infers the shape. Indices have the shape [n, rank]; for a vector, also [n] or []. `values` holds
// a value per index, or one for all indices.
void sparse_to_dense_shape(ShapeContext& c) {
  const Shape &indices = c.input(0), &values = c.input(2);
  const int64_t rank = c.with_rank(1, 1).dim(0);
  if (indices.has_rank()) {
    const int64_t index_rank = indices.rank() == 2 ? indices.dim(1) : 1;
    const int64_t count = indices.rank() == 0 ? 1 : indices.dim(0);
    if (rank >= 0 && index_rank >= 0 && rank != index_rank) {
      invalid_argument("sparse_indices of shape ", indices, " do not fit an output of ", rank,
                       " dimensions.");
    }
    if (values.has_rank() && values.rank() == 1 &&
        !Shape{count}.is_compatible_with(Shape{values.dim(0)})) {
      invalid_argument("sparse_values must be a scalar or have ", count, " elements; got shape ",
                       values, ".");
    }
  }
  shape_from_value(c, 1);
}

// Throws if a dimension is negative. Allocating a tensor would check this, but no tensor of the
// shape of a sparse tensor is allocated.
void check_dimensions(const std::vector<int64_t>& dims) {
  for (int64_t size : dims) {
    if (size < 0) invalid_argument("Dimension ", size, " of a sparse tensor must be >= 0.");
  }
}

class SparseReshapeKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const std::vector<int64_t> from = c.input(1).integers();
    check_dimensions(from);
    const std::vector<int64_t> to = resolve_shape(from, c.input(2).integers());
    const auto rank = static_cast<int64_t>(to.size());
    const int64_t count = c.input(0).shape().dim(0);
    const Indices indices(c.input(0));
    Tensor& out = c.allocate_output(0, DType::kInt64, Shape{count, rank});
    for (int64_t i = 0; i < count; ++i) {
      int64_t offset = offset_of(indices, i, from);
      for (int64_t d = rank - 1; d >= 0; --d) {
        out.data<int64_t>()[i * rank + d] = offset % to[static_cast<size_t>(d)];
        offset /= to[static_cast<size_t>(d)];
      }
    }
    Tensor& shape = c.allocate_output(1, DType::kInt64, Shape{rank});
    std::copy(to.begin(), to.end(), shape.data<int64_t>());
  }

 private:
  // Replaces a dimension of -1 in `to` so that the number of elements is unchanged.
  static std::vector<int64_t> resolve_shape(const std::vector<int64_t>& from,
                                            std::vector<int64_t> to) {
    const int64_t total = Shape(from).num_elements();
    int64_t unknown = -1;
    Shape known_dims;
    for (size_t i = 0; i < to.size(); ++i) {
      if (to[i] == -1 && unknown >= 0) {
        invalid_argument("Only one output dimension may be -1.");
      }
      if (to[i] == -1) unknown = static_cast<int64_t>(i);
      known_dims.append(to[i] == -1 ? 1 : to[i]);
    }
    const int64_t known_size = known_dims.num_elements();
    if (unknown >= 0) to[static_cast<size_t>(unknown)] = known_size > 0 ? total / known_size : 0;
    const int64_t size = unknown >= 0 ? known_size * to[static_cast<size_t>(unknown)] : known_size;
    if (size != total) {
      invalid_argument("A sparse tensor of ", total, " elements cannot be reshaped to ", size, ".");
    }
    return to;
  }
};

// Adds the default value at column 0 of each empty row. Elements are ordered by row.
class SparseFillEmptyRowsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor &indices = c.input(0), &values = c.input(1);
    const int64_t rank = indices.shape().dim(1), n = indices.shape().dim(0);
    check_dimensions(c.input(2).integers());
    const int64_t rows = c.input(2).data<int64_t>()[0];
    check_memory(rows, 2 * sizeof(int64_t));
    const auto* coordinates = indices.data<int64_t>();
    std::vector<int64_t> count(static_cast<size_t>(rows), 0);
    for (int64_t i = 0; i < n; ++i) {
      ++count[static_cast<size_t>(row_of(coordinates, i, rank, rows))];
    }
    Tensor& empty = c.allocate_output(2, DType::kBool, Shape{rows});
    std::vector<int64_t> next(static_cast<size_t>(rows), 0);  // next output element of each row
    int64_t total = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t row_count = count[static_cast<size_t>(r)];
      empty.data<bool>()[r] = row_count == 0;
      next[static_cast<size_t>(r)] = total;
      total += row_count == 0 ? 1 : row_count;
    }
    Tensor& out = c.allocate_output(0, DType::kInt64, Shape{total, rank});
    Tensor& filled = c.allocate_output(1, values.dtype(), Shape{total});
    Tensor& map = c.allocate_output(3, DType::kInt64, Shape{n});
    std::memset(out.raw(), 0, out.num_bytes());
    element_copier_.begin(filled, values);
    for (int64_t r = 0; r < rows; ++r) {
      if (!empty.data<bool>()[r]) continue;
      out.data<int64_t>()[next[static_cast<size_t>(r)] * rank] = r;
      element_copier_.copy(c.input(3), 0, next[static_cast<size_t>(r)], 1);
    }
    for (int64_t i = 0; i < n; ++i) {
      const int64_t place = next[static_cast<size_t>(coordinates[i * rank])]++;
      std::memcpy(out.data<int64_t>() + place * rank, coordinates + i * rank,
                  static_cast<size_t>(rank) * sizeof(int64_t));
      element_copier_.copy(values, i, place, 1);
      map.data<int64_t>()[i] = place;
    }
  }

 private:
  static int64_t row_of(const int64_t* coordinates, int64_t i, int64_t rank, int64_t rows) {
    const int64_t row = coordinates[i * rank];
    if (row < 0 || row >= rows) {
      invalid_argument("indices(", i, ", 0) is invalid: ", row, " is not in [0, ", rows, ").");
    }
    return row;
  }
  ElementCopier element_copier_;
};

// Returns the number of elements of a sparse tensor after each empty row is filled with one
// element.
int64_t count_filled_elements(const Tensor& indices, int64_t rows) {
  const int64_t n = indices.shape().dim(0), rank = indices.shape().dim(1);
  std::unordered_set<int64_t> nonempty_rows;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = indices.data<int64_t>()[i * rank];
    if (row >= 0 && row < rows) nonempty_rows.insert(row);
  }
  return n + rows - static_cast<int64_t>(nonempty_rows.size());
}

void sparse_fill_empty_rows_shape(ShapeContext& c) {
  const Shape indices = c.with_rank(0, 2), values = c.with_rank(1, 1), dims = c.with_rank(2, 1);
  const Shape n = Shape{indices.dim(0)}.merge_with(values);  // one value per index row
  const Shape rank = Shape{indices.dim(1)}.merge_with(dims);
  const Tensor *shape = c.value(2), *known_indices = c.value(0);
  const int64_t rows = shape ? shape->data<int64_t>()[0] : -1;
  const int64_t total =
      known_indices && rows >= 0 ? count_filled_elements(*known_indices, rows) : -1;
  c.set_output(0, Shape{total, rank.dim(0)});
  c.set_output(1, Shape{total});
  c.set_output(2, Shape{rows});
  c.set_output(3, n);
}

template <typename T>
class SparseFillEmptyRowsGradKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& grad = c.input(1);
    const Indices places(c.input(0));
    T* values = c.output(0).template data<T>();
    T default_grad = 0;
    std::vector<bool> is_input(static_cast<size_t>(grad.num_elements()), false);
    for (int64_t i = 0; i < places.size(); ++i) {
      const int64_t place = places.checked(i, grad.num_elements());
      values[i] = grad.data<T>()[place];
      is_input[static_cast<size_t>(place)] = true;
    }
    for (int64_t i = 0; i < grad.num_elements(); ++i) {
      if (is_input[static_cast<size_t>(i)]) continue;
      default_grad = wrapping_add(default_grad, grad.data<T>()[i]);
    }
    *c.output(1).template data<T>() = default_grad;
  }
};

// The distinct elements in the order of first appearance, the position of each input element among
// them, and optionally how often each occurs.
class UniqueKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const size_t size = dtype_size(x.dtype());
    const auto* from = static_cast<const char*>(x.raw());
    Tensor& places = c.allocate_output(1, c.op().attr_type("out_idx"), x.shape());
    std::unordered_map<std::string_view, int64_t> position_of_bytes;
    std::vector<int64_t> first, counts;
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const std::string_view bytes(from + static_cast<size_t>(i) * size, size);
      const auto [entry, is_new] =
          position_of_bytes.emplace(bytes, static_cast<int64_t>(first.size()));
      if (is_new) {
        first.push_back(i);
        counts.push_back(0);
      }
      ++counts[static_cast<size_t>(entry->second)];
      set(places, i, entry->second);
    }
    const auto n = static_cast<int64_t>(first.size());
    element_copier_.begin(c.allocate_output(0, x.dtype(), Shape{n}), x);
    for (size_t i = 0; i < first.size(); ++i) {
      element_copier_.copy(x, first[i], static_cast<int64_t>(i), 1);
    }
    if (c.num_outputs() < 3) return;
    Tensor& count_output = c.allocate_output(2, places.dtype(), Shape{n});
    for (int64_t i = 0; i < n; ++i) set(count_output, i, counts[static_cast<size_t>(i)]);
  }

 private:
  static void set(Tensor& out, int64_t i, int64_t value) {
    if (out.dtype() == DType::kInt64) {
      out.data<int64_t>()[i] = value;
    } else {
      out.data<int32_t>()[i] = static_cast<int32_t>(value);
    }
  }
  ElementCopier element_copier_;
};

void unique_shape(ShapeContext& c) {
  c.set_output(0, Shape::unknown_of_rank(1));
  c.set_output(1, c.input(0));
  if (c.outputs().size() > 2) c.set_output(2, Shape::unknown_of_rank(1));
}

// Returns the number of coordinates in each row of the indices; -1 if unknown.
int64_t num_coordinates(const Shape& indices) {
  return indices.has_rank() ? indices.dim(indices.rank() - 1) : -1;
}

// Returns the shape of all slices of a tensor of shape `x` whose first coordinates are rows of the
// indices.
Shape slices_shape(const Shape& indices, const Shape& x) {
  Shape shape;
  for (int d = 0; d < indices.rank() - 1; ++d) shape.append(indices.dim(d));
  for (auto d = static_cast<int>(num_coordinates(indices)); d < x.rank(); ++d)
    shape.append(x.dim(d));
  return shape;
}

// Gathers slices of `params`. Each row of the indices holds the first coordinates of a slice.
class GatherNdKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor &params = c.input(0), &indices = c.input(1);
    const Shape& shape = indices.shape();
    const int64_t depth = shape.dim(shape.rank() - 1);
    std::vector<int64_t> dims;
    int64_t inner = 1;
    for (int d = 0; d < params.shape().rank(); ++d) {
      if (d < depth) dims.push_back(params.shape().dim(d));
      if (d >= depth) inner *= params.shape().dim(d);
    }
    Tensor& out = c.output(0);
    // Counts index rows. The number of output elements divided by `inner` would skip the indices of
    // empty slices, which are checked, too.
    int64_t n = 1;
    for (int d = 0; d + 1 < shape.rank(); ++d) n *= shape.dim(d);
    const Indices rows(indices);
    element_copier_.begin(out, params);
    for (int64_t i = 0; i < n; ++i) {
      element_copier_.copy(params, offset_of(rows, i, dims) * inner, i * inner, inner);
    }
  }

 private:
  ElementCopier element_copier_;
};

void gather_nd_shape(ShapeContext& c) {
  const Shape &params = c.input(0), &indices = c.input(1);
  const int64_t depth = num_coordinates(indices);
  if (!params.has_rank() || depth < 0) return c.set_output(0, Shape::unknown());
  if (depth > params.rank()) {
    invalid_argument("indices have ", depth, " coordinates, but params has shape ", params, ".");
  }
  c.set_output(0, slices_shape(indices, params));
}

template <typename T>
class ScatterNdKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor &indices = c.input(0), &updates = c.input(1);
    const Shape& shape = indices.shape();
    const int64_t depth = shape.dim(shape.rank() - 1);
    Tensor& out = c.output(0);
    std::memset(out.raw(), 0, out.num_bytes());
    std::vector<int64_t> dims = c.input(2).integers();
    dims.resize(static_cast<size_t>(depth));
    int64_t n = 1;
    for (int d = 0; d < shape.rank() - 1; ++d) n *= shape.dim(d);
    const int64_t inner = n > 0 ? updates.num_elements() / n : 0;
    const Indices rows(indices);
    for (int64_t i = 0; i < n; ++i) {
      T* to = out.data<T>() + offset_of(rows, i, dims) * inner;
      for (int64_t j = 0; j < inner; ++j) {
        to[j] = wrapping_add(to[j], updates.data<T>()[i * inner + j]);
      }
    }
  }
};

void scatter_nd_shape(ShapeContext& c) {
  shape_from_value(c, 2);
  const Shape &indices = c.input(0), &out = c.outputs()[0];
  const int64_t depth = num_coordinates(indices);
  if (!out.has_rank() || depth < 0) return;
  if (depth > out.rank()) {
    invalid_argument("indices have ", depth, " coordinates, but the output has ", out.rank(),
                     " dimensions.");
  }
  const Shape expected = slices_shape(indices, out);
  if (!expected.is_compatible_with(c.input(1))) {
    invalid_argument("updates must have shape ", expected, " for indices of shape ", indices,
                     " and an output of shape ", out, "; got ", c.input(1), ".");
  }
}

}  // namespace

RUNHOOKS_REGISTER_OP("Where")
    .input("input: T")
    .output("index: int64")
    .attr("T: {bool, float, double, int32, int64} = DT_BOOL")
    .shape([](ShapeContext& c) {
      c.set_output(0, Shape{-1, c.input(0).has_rank() ? c.input(0).rank() : -1});
    })
    .kernel(kernel_of<WhereKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.Where")
    .r("raw_ops.Where(condition as input, name = NULL)")
    .summary("The coordinates of TRUE or nonzero elements.")
    .example("b[3,2]")
    .example("f[3]");

RUNHOOKS_REGISTER_OP("SparseToDense")
    .input("sparse_indices: Tindices, rank <= 2")
    .input("output_shape: Tindices, vector, >= 0")
    .input("sparse_values: T, rank <= 1")
    .input("default_value: T, scalar")
    .output("dense: T")
    .attr("validate_indices: bool = true")
    .attr("T: type")
    .attr("Tindices: {int32, int64}")
    .shape(sparse_to_dense_shape)
    .kernel(kernel_of<SparseToDenseKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output values = g.op("GatherNd", {dy[0], op.input(0)});
      std::vector<int32_t> axes;
      for (int i = 0; i < dy[0].shape().rank(); ++i) axes.push_back(i);
      const Output sum = g.op("Sum", {dy[0], g.int_vector(axes)});
      const Output values_sum = g.op("Sum", {values, g.int_vector({0})});
      return {Gradient(), Gradient(), values, subtract(g, sum, values_sum)};
    })
    .r("sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value = 0, "
       "validate_indices = TRUE, name = NULL)")
    .summary("Converts a sparse tensor to a dense one.")
    .example("i[2,2]{0,1,2,0} i{3,2} f[2] f[]");

RUNHOOKS_REGISTER_OP("SparseReshape")
    .input("input_indices: int64, rank 2")
    .input("input_shape: int64, vector")
    .input("new_shape: int64, vector")
    .output("output_indices: int64")
    .output("output_shape: int64")
    .shape([](ShapeContext& c) {
      const Shape indices = c.with_rank(0, 2);
      Shape{indices.dim(1)}.merge_with(c.with_rank(1, 1));
      const int64_t rank = c.with_rank(2, 1).dim(0);
      c.set_output(0, Shape{indices.dim(0), rank});
      c.set_output(1, Shape{rank});
    })
    .kernel(kernel_of<SparseReshapeKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.SparseReshape")
    .summary("Changes the shape of a sparse tensor.")
    .example("l[2,2]{0,1,2,0} l{3,2} l{2,-1}");

RUNHOOKS_REGISTER_OP("SparseFillEmptyRows")
    .input("indices: int64, rank 2")
    .input("values: T, vector")
    .input("dense_shape: int64, vector, not empty")
    .input("default_value: T, scalar")
    .output("output_indices: int64")
    .output("output_values: T")
    .output("empty_row_indicator: bool")
    .output("reverse_index_map: int64")
    .attr("T: type")
    .shape(sparse_fill_empty_rows_shape)
    .kernel(kernel_of<SparseFillEmptyRowsKernel>())
    .allocates_outputs()
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      Operation* grad = g.op("SparseFillEmptyRowsGrad", {op.output(3), dy[1]});
      return {Gradient(), grad->output(0), Gradient(), grad->output(1)};
    })
    .endpoint("raw_ops.SparseFillEmptyRows")
    .summary("Adds a default element to each empty row of a sparse tensor.")
    .example("l[2,2]{2,0,0,1} f[2] l{4,2} f[]");

RUNHOOKS_REGISTER_OP("SparseFillEmptyRowsGrad")
    .input("reverse_index_map: int64, vector")
    .input("grad_values: T, vector")
    .output("d_values: T")
    .output("d_default_value: T")
    .attr("T: {float, double}")
    .shape([](ShapeContext& c) {
      c.set_output(0, c.input(0));
      c.set_output(1, Shape());
    })
    .kernel(kernel_by_type<SparseFillEmptyRowsGradKernel, float, double>())
    .not_differentiable()
    .endpoint("raw_ops.SparseFillEmptyRowsGrad")
    .summary("The gradient of SparseFillEmptyRows.")
    .example("l{1,2} f[4]");

RUNHOOKS_REGISTER_OP("Unique")
    .input("x: T, vector")
    .output("y: T")
    .output("idx: out_idx")
    .attr("T: type")
    .attr("out_idx: {int32, int64} = DT_INT32")
    .shape(unique_shape)
    .kernel(kernel_of<UniqueKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("unique")
    .summary("Distinct elements, and the index of each element among them.")
    .example("i{3,1,3,7}");

RUNHOOKS_REGISTER_OP("UniqueWithCounts")
    .input("x: T, vector")
    .output("y: T")
    .output("idx: out_idx")
    .output("count: out_idx")
    .attr("T: type")
    .attr("out_idx: {int32, int64} = DT_INT32")
    .shape(unique_shape)
    .kernel(kernel_of<UniqueKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("unique_with_counts")
    .summary("Distinct elements, the index of each element among them, and their counts.")
    .example("i{3,1,3,7}");

RUNHOOKS_REGISTER_OP("GatherNd")
    .input("params: Tparams")
    .input("indices: Tindices, rank >= 1")
    .output("output: Tparams")
    .attr("Tparams: type")
    .attr("Tindices: {int32, int64}")
    .shape(gather_nd_shape)
    .kernel(kernel_of<GatherNdKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output shape = cast(g, shape_of(g, op.input(0)), op.input(1).dtype());
      return {g.op("ScatterNd", {op.input(1), dy[0], shape}), Gradient()};
    })
    .r("gather_nd(params, indices, name = NULL, batch_dims = 0)")
    .summary("Gathers slices by coordinates.")
    .example("f[3,2] i[2,2]{0,1,0,1}")
    .example("f[3,2] i[2,1]{2,0}");

RUNHOOKS_REGISTER_OP("ScatterNd")
    .input("indices: Tindices, rank >= 1")
    .input("updates: T")
    .input("shape: Tindices, vector, >= 0")
    .output("output: T")
    .attr("T: {float, double, int32, int64}")
    .attr("Tindices: {int32, int64}")
    .shape(scatter_nd_shape)
    .kernel(kernel_by_type<ScatterNdKernel, float, double, int32_t, int64_t>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {Gradient(), g.op("GatherNd", {dy[0], op.input(0)}), Gradient()};
    })
    .endpoint("scatter_nd")
    .summary("A tensor of zeros with updates added at coordinates.")
    .example("i[2,2]{0,1,0,1} f[2] i{3,2}");

}  // namespace runhooks
