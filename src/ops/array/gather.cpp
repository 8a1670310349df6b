#include <algorithm>
#include <cstring>

#include "graph/variable.h"
#include "ops/array/copy_elements.h"
#include "ops/array/index_reader.h"
#include "ops/math/integer_math.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

// Gathers slices along `axis`. The first `batch_dims` dimensions are batches, which params and
// indices have in common: each batch has its own indices.
void copy_slices(ElementCopier& copier,
                 const Tensor& params,
                 const Tensor& indices_tensor,
                 int axis,
                 int batch_dims,
                 Tensor& out) {
  int64_t batches = 1, outer = 1, inner = 1;
  for (int i = 0; i < batch_dims; ++i) batches *= params.shape().dim(i);
  for (int i = batch_dims; i < axis; ++i) outer *= params.shape().dim(i);
  for (int i = axis + 1; i < params.shape().rank(); ++i) inner *= params.shape().dim(i);
  const int64_t rows = params.shape().dim(axis);
  const Indices indices(indices_tensor);
  const int64_t n = batches == 0 ? 0 : indices.size() / batches;
  copier.begin(out, params);
  int64_t to = 0;
  for (int64_t o = 0; o < batches * outer; ++o) {
    const int64_t first = o / outer * n;
    for (int64_t i = first; i < first + n; ++i, to += inner) {
      copier.copy(params, (o * rows + indices.checked(i, rows)) * inner, to, inner);
    }
  }
}

// Returns the attribute batch_dims as a nonnegative number. Throws if the batch dimensions of
// params and indices differ.
int checked_batch_dims(const Operation& op, const Shape& params, const Shape& indices, int axis) {
  const int64_t argument = op.attr<int64_t>("batch_dims");
  const int64_t nonnegative = argument < 0 ? argument + indices.rank() : argument;
  if (nonnegative < 0 || nonnegative > std::min(axis, indices.rank())) {
    invalid_argument("batch_dims must be in [", -indices.rank(), ", ",
                     std::min(axis, indices.rank()), "], but got ", argument, ".");
  }
  for (int i = 0; i < nonnegative; ++i) {
    const int64_t a = params.dim(i), b = indices.dim(i);
    if (a >= 0 && b >= 0 && a != b) {
      invalid_argument("The first ", nonnegative, " dimensions of shapes ", params, " and ",
                       indices, " must be the same for batch_dims = ", argument, ".");
    }
  }
  return static_cast<int>(nonnegative);
}

class GatherKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape &params = c.input(0).shape(), &indices = c.input(1).shape();
    const int axis = read_axis(c.input(2), params.rank());
    copy_slices(element_copier_, c.input(0), c.input(1), axis,
                checked_batch_dims(c.op(), params, indices, axis), c.output(0));
  }

 private:
  ElementCopier element_copier_;
};

void gather_shape(ShapeContext& c) {
  const Shape &params = c.input(0), &indices = c.input(1);
  const Tensor* axis = c.value(2);
  if (!params.has_rank() || !indices.has_rank() || !axis) return c.set_output(0, Shape::unknown());
  const int gather_axis = read_axis(*axis, params.rank());
  const int batch_dims = checked_batch_dims(c.op(), params, indices, gather_axis);
  Shape out;
  for (int i = 0; i < gather_axis; ++i) out.append(params.dim(i));
  for (int i = batch_dims; i < indices.rank(); ++i) out.append(indices.dim(i));
  for (int i = gather_axis + 1; i < params.rank(); ++i) out.append(params.dim(i));
  c.set_output(0, out);
}

// Returns the gradient as IndexedSlices. Its values have shape [number of indices, row shape].
Gradient rows_as_slices(Graph& g, Output params_shape, Output indices, Output dy) {
  const Output count = g.op("Reshape", {g.op("Size", {indices}), g.int_vector({1})});
  const Output row_shape = g.op("Slice", {params_shape, g.int_vector({1}), g.int_vector({-1})});
  Gradient slices;
  slices.values =
      g.op("Reshape", {dy, g.op("ConcatV2", {count, row_shape, g.scalar(DType::kInt32, 0)})});
  slices.indices = g.op("Reshape", {indices, g.int_vector({-1})});
  slices.dense_shape = params_shape;
  return slices;
}

std::vector<int32_t> integers_between(int begin, int end) {
  std::vector<int32_t> numbers;
  for (int i = begin; i < end; ++i) numbers.push_back(i);
  return numbers;
}

// Computes the gradient for an axis other than the first. Moves the axis to the front, sums the
// slices, and moves it back.
Output gradient_along_axis(Graph& g, Operation& op, Output dy) {
  const Shape &params = op.input(0).shape(), &indices = op.input(1).shape();
  const Operation& axis_op = *op.input(2).op;
  if (axis_op.type() != "Const" || op.attr<int64_t>("batch_dims") != 0 || !params.has_rank() ||
      !indices.has_rank()) {
    fail(Code::kUnimplemented,
         "The gradient of GatherV2 needs a constant axis, known ranks and no batch_dims; op '",
         op.name(), "' differs.");
  }
  const int rank = params.rank(), width = indices.rank();
  const auto argument = static_cast<int>(axis_op.attr<Tensor>("value").integers()[0]);
  const int axis = argument < 0 ? argument + rank : argument;
  auto concatenated = [](std::vector<int32_t> a, const std::vector<int32_t>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const std::vector<int32_t> axis_first =
      concatenated(concatenated(integers_between(axis, axis + width), integers_between(0, axis)),
                   integers_between(axis + width, rank - 1 + width));
  const Output slices = g.op("Transpose", {dy, g.int_vector(axis_first)});
  const Output size = g.op("StridedSlice", {shape_of(g, op.input(0)), g.int_vector({axis}),
                                            g.int_vector({axis + 1}), g.int_vector({1})})
                          .attr("shrink_axis_mask", 1);
  const Output sums = g.op("UnsortedSegmentSum", {slices, op.input(1), size});
  const std::vector<int32_t> from_front = concatenated(
      concatenated(integers_between(1, axis + 1), {0}), integers_between(axis + 1, rank));
  return g.op("Transpose", {sums, g.int_vector(from_front)});
}

Grads gather_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output axis = op.input(2);
  const Operation& axis_op = *axis.op;
  const bool is_first =
      axis_op.type() == "Const" && axis_op.attr<Tensor>("value").integers()[0] == 0;
  if (!is_first) return {gradient_along_axis(g, op, dy[0]), Gradient(), Gradient()};
  return {rows_as_slices(g, shape_of(g, op.input(0)), op.input(1), dy[0]), Gradient(), Gradient()};
}

class ResourceGatherKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& params = initialized_variable(c, 0).value();
    if (c.op().attr<int64_t>("batch_dims") != 0) {
      fail(Code::kUnimplemented,
           "ResourceGather does not support batch_dims; gather from the variable's value.");
    }
    if (params.shape().rank() == 0) invalid_argument("A scalar variable has no rows to gather.");
    Shape shape = c.input(1).shape();
    for (int i = 1; i < params.shape().rank(); ++i) shape.append(params.shape().dim(i));
    copy_slices(element_copier_, params, c.input(1), 0, 0,
                c.allocate_output(0, params.dtype(), shape));
  }

 private:
  ElementCopier element_copier_;
};

Shape variable_shape(const ShapeContext& c) { return declared_shape(*c.op().input(0).op); }

// Updates rows of a variable: adds if kSign is 1, subtracts if it is -1, assigns if it is 0.
template <typename T, int kSign>
class ScatterKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    VariableState& state = initialized_variable(c, 0);
    const Tensor& updates = c.input(2);
    const Indices indices(c.input(1));
    const int64_t rows = state.value().shape().rank() > 0 ? state.value().shape().dim(0) : 0;
    const int64_t width = rows > 0 ? state.value().num_elements() / rows : 0;
    if (updates.num_elements() != indices.size() * width) {
      invalid_argument("Updates of shape ", updates.shape(), " do not fit indices of shape ",
                       c.input(1).shape(), " and a variable of shape ", state.value().shape(), ".");
    }
    T* value = state.value().template data<T>();
    const T* update = updates.data<T>();
    for (int64_t i = 0; i < indices.size(); ++i, update += width) {
      T* row = value + indices.checked(i, rows) * width;
      for (int64_t j = 0; j < width; ++j) {
        row[j] = kSign > 0   ? wrapping_add(row[j], update[j])
                 : kSign < 0 ? wrapping_subtract(row[j], update[j])
                             : update[j];
      }
    }
    forward_variable(c);
  }
};
template <typename T>
using ScatterAddKernel = ScatterKernel<T, 1>;
template <typename T>
using ScatterSubKernel = ScatterKernel<T, -1>;
template <typename T>
using ScatterUpdateKernel = ScatterKernel<T, 0>;

void scatter_shape(ShapeContext& c) { c.set_output(0, variable_shape(c)); }

}  // namespace

RUNHOOKS_REGISTER_OP("GatherV2")
    .input("params: Tparams, rank >= 1")
    .input("indices: Tindices")
    .input("axis: Taxis, scalar")
    .output("output: Tparams")
    .attr("batch_dims: int = 0")
    .attr("Tparams: type")
    .attr("Tindices: {int32, int64}")
    .attr("Taxis: {int32, int64}")
    .shape(gather_shape)
    .kernel(kernel_of<GatherKernel>())
    .gradient(gather_gradient)
    .endpoint("raw_ops.GatherV2")
    .summary("Gathers slices of a tensor by index along an axis.")
    .example("f[2,4,3] i[2,2]{0,3,3,1} i:1")
    .example("f[2,4] i:3 i:-1")
    .example("f[4,2] i[2,2]{1,1,3,0} i:0")
    .example("f[4] i{1,1,3} i:0");

RUNHOOKS_REGISTER_OP("ResourceGather")
    .input("resource: resource, variable of dtype")
    .input("indices: Tindices")
    .output("output: dtype")
    .attr("batch_dims: int = 0")
    .attr("validate_indices: bool = true")
    .attr("dtype: type")
    .attr("Tindices: {int32, int64}")
    .shape([](ShapeContext& c) {
      const Shape params = variable_shape(c), indices = c.input(1);
      if (!params.has_rank() || !indices.has_rank()) return c.set_output(0, Shape::unknown());
      Shape out = indices;
      for (int i = 1; i < params.rank(); ++i) out.append(params.dim(i));
      c.set_output(0, out);
    })
    .kernel(kernel_of<ResourceGatherKernel>())
    .stateful()
    .allocates_outputs()
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      std::vector<int32_t> dims;
      const auto& shape = op.input(0).op->attr<Shape>("shape");
      for (int i = 0; i < shape.rank(); ++i) dims.push_back(static_cast<int32_t>(shape.dim(i)));
      return {rows_as_slices(g, g.int_vector(dims), op.input(1), dy[0]), Gradient()};
    })
    .endpoint("raw_ops.ResourceGather")
    .summary("Gathers rows of a resource variable by index.");

#define RUNHOOKS_REGISTER_SCATTER(type, kernel_class, locking, text)           \
  RUNHOOKS_REGISTER_OP(type)                                                   \
      .input("ref: Ref(T)")                                                    \
      .input("indices: Tindices")                                              \
      .input("updates: T")                                                     \
      .output("output_ref: Ref(T)")                                            \
      .attr("T: {float, double, int32, int64}")                                \
      .attr("Tindices: {int32, int64}")                                        \
      .attr("use_locking: bool = " locking)                                    \
      .shape(scatter_shape)                                                    \
      .kernel(kernel_by_type<kernel_class, float, double, int32_t, int64_t>()) \
      .mutates(0)                                                              \
      .not_differentiable()                                                    \
      .endpoint("raw_ops." type)                                               \
      .summary(text)

RUNHOOKS_REGISTER_SCATTER("ScatterAdd", ScatterAddKernel, "false", "Adds to rows of a variable.");
RUNHOOKS_REGISTER_SCATTER("ScatterSub",
                          ScatterSubKernel,
                          "false",
                          "Subtracts from rows of a variable.");
RUNHOOKS_REGISTER_SCATTER("ScatterUpdate", ScatterUpdateKernel, "true", "New rows of a variable.");
#undef RUNHOOKS_REGISTER_SCATTER

#define RUNHOOKS_REGISTER_RESOURCE_SCATTER(type, kernel_class, text)                  \
  RUNHOOKS_REGISTER_OP(type)                                                          \
      .input("resource: resource, variable of dtype")                                 \
      .input("indices: Tindices")                                                     \
      .input("updates: dtype")                                                        \
      .attr("dtype: {float, double, int32, int64}")                                   \
      .attr("Tindices: {int32, int64}")                                               \
      .shape(no_outputs)                                                              \
      .kernel(kernel_by_type<kernel_class, float, double, int32_t, int64_t>("dtype")) \
      .mutates(0)                                                                     \
      .not_differentiable()                                                           \
      .endpoint("raw_ops." type)                                                      \
      .summary(text)

RUNHOOKS_REGISTER_RESOURCE_SCATTER("ResourceScatterAdd",
                                   ScatterAddKernel,
                                   "Adds to rows of a resource variable.");
RUNHOOKS_REGISTER_RESOURCE_SCATTER("ResourceScatterSub",
                                   ScatterSubKernel,
                                   "Subtracts from rows of a resource variable.");
RUNHOOKS_REGISTER_RESOURCE_SCATTER("ResourceScatterUpdate",
                                   ScatterUpdateKernel,
                                   "New rows of a resource variable.");
#undef RUNHOOKS_REGISTER_RESOURCE_SCATTER

}  // namespace runhooks
