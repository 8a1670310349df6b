#include <algorithm>
#include <cstring>

#include "graph/op_registry.h"
#include "ops/array/copy_box.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

class PadKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const std::vector<int64_t> paddings = c.input(1).integers();
    std::vector<int64_t> before;
    for (size_t i = 0; i < paddings.size(); i += 2) before.push_back(paddings[i]);
    Tensor& out = c.output(0);
    const bool has_value = c.num_inputs() == 3;
    element_copier_.begin(out, has_value ? 2 : 1,
                          [&c](int k) -> const Tensor& { return c.input(k == 0 ? 0 : 2); });
    if (has_value) {
      element_copier_.fill(c.input(2), 0, 0, out.num_elements());
    } else {
      element_copier_.fill_default(0, out.num_elements());
    }
    copy_box(element_copier_, c.input(0), std::vector<int64_t>(before.size(), 0), out.shape(),
             before, c.input(0).shape());
  }

 private:
  ElementCopier element_copier_;
};

void pad_shape(ShapeContext& c) {
  const Tensor* paddings = c.value(1);
  const Shape& x = c.input(0);
  if (x.has_rank() && !Shape{x.rank(), 2}.is_compatible_with(c.input(1))) {
    invalid_argument("paddings must have shape (", x.rank(), ", 2); got ", c.input(1), ".");
  }
  if (!paddings || !x.has_rank()) {
    c.set_output(0, x.has_rank() ? Shape::unknown_of_rank(x.rank()) : Shape::unknown());
    return;
  }
  const std::vector<int64_t> sizes = paddings->integers();
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    const auto k = static_cast<size_t>(2 * i);
    out.append(sum_of_dims(sum_of_dims(x.dim(i), sizes[k]), sizes[k + 1]));
  }
  c.set_output(0, out);
}

// As in TensorFlow, the constant of PadV2 gets no gradient.
Grads pad_gradient(Graph& g, Operation& op, const Outputs& dy) {
  Operation* before_and_after = g.op("Unpack", {op.input(1)}).attr("num", 2).attr("axis", 1);
  const Output unpadded =
      g.op("Slice", {dy[0], before_and_after->output(0), shape_of(g, op.input(0))});
  Grads dx = {unpadded, Gradient()};
  dx.resize(op.inputs().size());
  return dx;
}

// Maps each element of a tensor that MirrorPad has padded to an element of the input. The mode
// SYMMETRIC repeats the element at the edge, REFLECT does not.
class MirrorMap {
 public:
  MirrorMap(const Operation& op, const Shape& unpadded, const std::vector<int64_t>& paddings) {
    const bool reflects = op.attr<std::string>("mode") == "REFLECT";
    int64_t stride = 1;
    offsets_.resize(static_cast<size_t>(unpadded.rank()));
    for (int d = unpadded.rank(); d-- > 0;) {
      const auto k = static_cast<size_t>(2 * d);
      const int64_t n = unpadded.dim(d), before = paddings[k], after = paddings[k + 1];
      check(reflects, n, before, after);
      std::vector<int64_t>& dim_offsets = offsets_[static_cast<size_t>(d)];
      for (int64_t i = -before; i < n + after; ++i) {
        const int64_t edge = reflects ? 0 : 1;
        const int64_t source = i < 0 ? -i - edge : (i < n ? i : 2 * n - 2 + edge - i);
        dim_offsets.push_back(source * stride);
      }
      stride *= n;
    }
  }
  // Calls visit(index in the padded tensor, index in the input) for each element.
  template <typename Visit>
  void for_each(Visit visit) const {
    int64_t to = 0;
    visit_dims(0, 0, &to, visit);
  }

 private:
  static void check(bool reflects, int64_t n, int64_t before, int64_t after) {
    const int64_t max_padding = reflects ? n - 1 : n;
    if (std::max(before, after) <= max_padding) return;
    invalid_argument("Paddings must be ", reflects ? "less" : "no greater",
                     " than the dimension size: ", before, ", ", after,
                     reflects ? " not less than " : " greater than ", n, ".");
  }
  template <typename Visit>
  void visit_dims(size_t d, int64_t from, int64_t* to, Visit visit) const {
    if (d == offsets_.size()) {
      visit((*to)++, from);
      return;
    }
    for (const int64_t source : offsets_[d]) visit_dims(d + 1, from + source, to, visit);
  }

  // For each dimension and each padded index, the offset of the input element.
  std::vector<std::vector<int64_t>> offsets_;
};

class MirrorPadKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const MirrorMap map(c.op(), c.input(0).shape(), c.input(1).integers());
    element_copier_.begin(c.output(0), c.input(0));
    map.for_each([&](int64_t to, int64_t from) { element_copier_.copy(c.input(0), from, to, 1); });
  }

 private:
  ElementCopier element_copier_;
};

template <typename T>
class MirrorPadGradKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Tensor& dx = c.output(0);
    const MirrorMap map(c.op(), dx.shape(), c.input(1).integers());
    const T* dy = c.input(0).data<T>();
    T* to = dx.data<T>();
    std::fill(to, to + dx.num_elements(), T(0));
    map.for_each([=](int64_t padded, int64_t unpadded) { to[unpadded] += dy[padded]; });
  }
};

void unpad_shape(ShapeContext& c) {
  const Tensor* paddings = c.value(1);
  const Shape& padded = c.input(0);
  if (!padded.has_rank()) return;
  Shape unpadded = Shape::unknown_of_rank(padded.rank());
  if (paddings) {
    const std::vector<int64_t> sizes = paddings->integers();
    if (paddings->num_elements() != 2 * padded.rank()) {
      invalid_argument("paddings must have shape (", padded.rank(), ", 2); got ", c.input(1), ".");
    }
    for (int d = 0; d < padded.rank(); ++d) {
      const auto k = static_cast<size_t>(2 * d);
      if (padded.dim(d) < 0) continue;
      const int64_t n = padded.dim(d) - sizes[k] - sizes[k + 1];
      if (n < 0) invalid_argument("paddings are larger than dimension ", d, " of ", padded, ".");
      unpadded.set_dim(d, n);
    }
  }
  c.set_output(0, unpadded);
}

Grads mirror_gradient(Graph& g, Operation& op, const Outputs& dy, const char* type) {
  return {g.op(type, {dy[0], op.input(1)}).attr("mode", op.attr<std::string>("mode")), Gradient()};
}

}  // namespace

RUNHOOKS_REGISTER_OP("Pad")
    .input("input: T")
    .input("paddings: Tpaddings, rank 2, >= 0")
    .output("output: T")
    .attr("T: type")
    .attr("Tpaddings: {int32, int64} = DT_INT32")
    .shape(pad_shape)
    .kernel(kernel_of<PadKernel>())
    .gradient(pad_gradient)
    .endpoint("raw_ops.Pad")
    .summary("Pads a tensor with zeros.")
    .example("f[2,3] i[2,2]{1,0,0,2}");

RUNHOOKS_REGISTER_OP("PadV2")
    .input("input: T")
    .input("paddings: Tpaddings, rank 2, >= 0")
    .input("constant_values: T, scalar")
    .output("output: T")
    .attr("T: type")
    .attr("Tpaddings: {int32, int64} = DT_INT32")
    .shape(pad_shape)
    .kernel(kernel_of<PadKernel>())
    .gradient(pad_gradient)
    .endpoint("raw_ops.PadV2")
    .summary("Pads a tensor with a constant.")
    .example("f[2,3] i[2,2]{1,0,0,2} n[]{2}");

#define RUNHOOKS_MIRROR_OP(type)                    \
  RUNHOOKS_REGISTER_OP(type)                        \
      .input("input: T")                            \
      .input("paddings: Tpaddings, rank 2, >= 0")   \
      .output("output: T")                          \
      .attr("Tpaddings: {int32, int64} = DT_INT32") \
      .attr("mode: {'REFLECT', 'SYMMETRIC'}")       \
      .endpoint("raw_ops." type)                    \
      .example("f[3,3] i[2,2]{1,0,0,1} | mode=REFLECT")

RUNHOOKS_MIRROR_OP("MirrorPad")
    .attr("T: type")
    .shape(pad_shape)
    .kernel(kernel_of<MirrorPadKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) {
      return mirror_gradient(g, op, dy, "MirrorPadGrad");
    })
    .summary("Pads a tensor by reflection.");

RUNHOOKS_MIRROR_OP("MirrorPadGrad")
    .attr("T: {float, double}")
    .shape(unpad_shape)
    .kernel(kernel_by_type<MirrorPadGradKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) {
      return mirror_gradient(g, op, dy, "MirrorPad");
    })
    .summary("The gradient of MirrorPad.");

}  // namespace runhooks
