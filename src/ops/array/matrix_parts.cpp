#include <algorithm>

#include "ops/linalg/linalg.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

// Sets the elements outside a band around the diagonal to 0. The inputs 1 and 2 are the widths of
// the band; a negative width includes the whole triangle.
template <typename T>
class BandPartKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const MatrixSize d = matrix_size(c.input(0).shape());
    const int64_t lower = c.input(1).integers()[0];
    const int64_t upper = c.input(2).integers()[0];
    const T* x = c.input(0).template data<T>();
    T* y = c.output(0).template data<T>();
    for (int64_t k = count_matrices(c.input(0).shape()); k > 0; --k) {
      for (int64_t i = 0; i < d.m; ++i) {
        for (int64_t j = 0; j < d.n; ++j, ++x, ++y) {
          const bool is_in_band = (lower < 0 || i - j <= lower) && (upper < 0 || j - i <= upper);
          *y = is_in_band ? *x : T(0);
        }
      }
    }
  }
};

template <typename T>
class DiagKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.output(0).shape();
    const int64_t n = shape.dim(shape.rank() - 1);
    const T* diagonal = c.input(0).template data<T>();
    T* y = c.output(0).template data<T>();
    for (int64_t k = count_matrices(shape); k > 0; --k) {
      for (int64_t i = 0; i < n; ++i, ++diagonal) {
        for (int64_t j = 0; j < n; ++j) *y++ = i == j ? *diagonal : T(0);
      }
    }
  }
};

template <typename T>
class DiagPartKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const MatrixSize d = matrix_size(c.input(0).shape());
    const T* x = c.input(0).template data<T>();
    T* y = c.output(0).template data<T>();
    for (int64_t k = count_matrices(c.input(0).shape()); k > 0; --k, x += d.m * d.n) {
      for (int64_t i = 0; i < std::min(d.m, d.n); ++i) *y++ = x[i * d.n + i];
    }
  }
};

template <typename T>
class SetDiagKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const MatrixSize d = matrix_size(c.input(0).shape());
    const T *x = c.input(0).template data<T>(), *diagonal = c.input(1).template data<T>();
    T* y = c.output(0).template data<T>();
    std::copy_n(x, c.input(0).num_elements(), y);
    for (int64_t k = count_matrices(c.input(0).shape()); k > 0; --k, y += d.m * d.n) {
      for (int64_t i = 0; i < std::min(d.m, d.n); ++i) y[i * d.n + i] = *diagonal++;
    }
  }
};

Shape diagonal_shape(const Shape& x) {
  return with_dims(outer_dims(x, 2), {matrix_size(x).min_dim()});
}

void set_diag_shape(ShapeContext& c) {
  const Shape &x = c.input(0), &diagonal = c.input(1);
  if (x.has_rank() && !diagonal_shape(x).is_compatible_with(diagonal)) {
    invalid_argument("A diagonal of shape ", diagonal, " does not fit matrices of shape ", x, ".");
  }
  c.set_output(0, x);
}

}  // namespace

Output band_part(Graph& g, Output x, int64_t lower, int64_t upper) {
  return g.op("MatrixBandPart", {x, g.constant(Tensor::scalar<int64_t>(lower)),
                                 g.constant(Tensor::scalar<int64_t>(upper))});
}

Output matrix_product(Graph& g, Output x, bool transpose_x, Output y, bool transpose_y) {
  return g.op("BatchMatMulV2", {x, y}).attr("adj_x", transpose_x).attr("adj_y", transpose_y);
}

Output identity_like(Graph& g, Output square) {
  return g.op("MatrixDiag", {ones_like(g, g.op("MatrixDiagPart", {square}))});
}

RUNHOOKS_REGISTER_OP("MatrixBandPart")
    .input("input: T, rank >= 2")
    .input("num_lower: Tindex, scalar")
    .input("num_upper: Tindex, scalar")
    .output("band: T")
    .attr("T: numbertype")
    .attr("Tindex: {int32, int64} = DT_INT64")
    .shape(unchanged_shape)
    .kernel(kernel_by_type<BandPartKernel, float, double, int32_t, int64_t>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {g.op("MatrixBandPart", {dy[0], op.input(1), op.input(2)}), Gradient(), Gradient()};
    })
    .endpoint("matrix_band_part")
    .endpoint("linalg.band_part")
    .summary("Sets elements outside a band around the diagonal to 0.")
    .example("f[2,3,3] i:0 i:-1")
    .example("f[3,4] i:1 i:0");

RUNHOOKS_REGISTER_OP("MatrixDiag")
    .input("diagonal: T, rank >= 1")
    .output("output: T")
    .attr("T: numbertype")
    .shape([](ShapeContext& c) {
      const Shape& x = c.input(0);
      if (!x.has_rank()) return c.set_output(0, Shape::unknown());
      if (x.rank() < 1) invalid_argument("A diagonal has at least 1 dimension; got a scalar.");
      c.set_output(0, with_dims(x, {x.dim(x.rank() - 1)}));
    })
    .kernel(kernel_by_type<DiagKernel, float, double, int32_t, int64_t>())
    .gradient([](Graph& g, Operation&, const Outputs& dy) -> Grads {
      return {g.op("MatrixDiagPart", {dy[0]})};
    })
    .r("matrix_diag, linalg.diag(diagonal, name = 'diag', k = 0, num_rows = -1, num_cols = -1, "
       "padding_value = 0)")
    .summary("Square diagonal matrices.")
    .example("f[2,3]");

RUNHOOKS_REGISTER_OP("MatrixDiagPart")
    .input("input: T, rank >= 2")
    .output("diagonal: T")
    .attr("T: numbertype")
    .shape([](ShapeContext& c) {
      const Shape& x = c.input(0);
      c.set_output(0, x.has_rank() ? diagonal_shape(x) : Shape::unknown());
    })
    .kernel(kernel_by_type<DiagPartKernel, float, double, int32_t, int64_t>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {g.op("MatrixSetDiag", {g.op("ZerosLike", {op.input(0)}), dy[0]})};
    })
    .r("matrix_diag_part, linalg.diag_part(input, name = 'diag_part', k = 0, padding_value = 0)")
    .summary("The diagonals of matrices.")
    .example("f[2,3,4]");

RUNHOOKS_REGISTER_OP("MatrixSetDiag")
    .input("input: T, rank >= 2")
    .input("diagonal: T, rank >= 1")
    .output("output: T")
    .attr("T: numbertype")
    .shape(set_diag_shape)
    .kernel(kernel_by_type<SetDiagKernel, float, double, int32_t, int64_t>())
    .gradient([](Graph& g, Operation&, const Outputs& dy) -> Grads {
      const Output diagonal = g.op("MatrixDiagPart", {dy[0]});
      return {g.op("MatrixSetDiag", {dy[0], g.op("ZerosLike", {diagonal})}), diagonal};
    })
    .r("matrix_set_diag, linalg.set_diag(input, diagonal, name = 'set_diag', k = 0)")
    .summary("Replaces the diagonals of matrices.")
    .example("f[2,3,4] f[2,3]");

}  // namespace runhooks
