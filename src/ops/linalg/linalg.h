// Helpers for tensors whose last two dimensions are matrices: iteration and shape inference. Does
// not include Eigen, so that files without Eigen compile fast.
#pragma once

#include <algorithm>

#include "graph/graph.h"

namespace runhooks {

// Returns the dimensions of a shape without the last `inner` ones.
inline Shape outer_dims(const Shape& shape, int inner) {
  Shape outer;
  for (int i = 0; i + inner < shape.rank(); ++i) outer.append(shape.dim(i));
  return outer;
}

// Appends dimensions to a shape.
inline Shape with_dims(Shape outer, std::initializer_list<int64_t> inner) {
  for (int64_t dim : inner) outer.append(dim);
  return outer;
}

// The size m x n of the matrices, -1 if unknown, and the smaller of both dimensions.
struct MatrixSize {
  int64_t m = -1, n = -1;
  int64_t min_dim() const { return m < 0 || n < 0 ? Shape::kUnknownDim : std::min(m, n); }
};
inline MatrixSize matrix_size(const Shape& x) { return {x.dim(x.rank() - 2), x.dim(x.rank() - 1)}; }

// Returns the shape of input i. Throws unless its matrices are square.
inline const Shape& square_matrices(const ShapeContext& c, int i) {
  const Shape& x = c.input(i);
  if (!x.has_rank()) return x;
  const int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  if (rows >= 0 && columns >= 0 && rows != columns) {
    invalid_argument("Input matrix must be square, got shape ", x, ".");
  }
  return x;
}

// Calls `solve(input, output)` for each matrix, where `input(i)` and `output(i)` return a pointer
// to the matrix of input or output i.
template <typename T, typename Solve>
void for_each_matrix(KernelContext& c, int64_t count, Solve solve) {
  auto stride = [count](const Tensor& x) { return count == 0 ? 0 : x.num_elements() / count; };
  for (int64_t k = 0; k < count; ++k) {
    solve([&](int i) { return c.input(i).template data<T>() + k * stride(c.input(i)); },
          [&](int i) { return c.output(i).template data<T>() + k * stride(c.output(i)); });
  }
}

// Add ops that gradient functions need: a matrix product, a band (see MatrixBandPart), and identity
// matrices with the shape of `square`.
Output matrix_product(Graph& g, Output x, bool transpose_x, Output y, bool transpose_y);
Output band_part(Graph& g, Output x, int64_t lower, int64_t upper);
Output identity_like(Graph& g, Output square);

inline int64_t count_matrices(const Shape& x) { return outer_dims(x, 2).num_elements(); }

}  // namespace runhooks
