#include "ops/math/elementwise.h"

#include <algorithm>

namespace runhooks {

namespace {

// Strides of an operand along the output axes, 0 where it is repeated.
std::vector<int64_t> strides_in(const Shape& operand, const Shape& out) {
  std::vector<int64_t> strides(static_cast<size_t>(out.rank()), 0);
  int64_t stride = 1;
  for (int i = operand.rank() - 1; i >= 0; --i) {
    const int axis = i + out.rank() - operand.rank();
    if (operand.dim(i) != 1) strides[static_cast<size_t>(axis)] = stride;
    stride *= operand.dim(i);
  }
  return strides;
}

// True if the operand is contiguous along axes first...rank-1.
bool is_dense_from(const Shape& out, const std::vector<int64_t>& strides, int first) {
  int64_t expected = 1;
  for (int axis = out.rank() - 1; axis >= first; --axis) {
    if (out.dim(axis) != 1 && strides[static_cast<size_t>(axis)] != expected) return false;
    expected *= out.dim(axis);
  }
  return true;
}

bool is_repeated_from(const Shape& out, const std::vector<int64_t>& strides, int first) {
  for (int axis = first; axis < out.rank(); ++axis) {
    if (out.dim(axis) != 1 && strides[static_cast<size_t>(axis)] != 0) return false;
  }
  return true;
}

}  // namespace

BroadcastLayout broadcast_layout(const Shape& a, const Shape& b, const Shape& out) {
  BroadcastLayout layout;
  layout.n = layout.inner = out.num_elements();
  if (layout.n == 0) return layout;
  const std::vector<int64_t> sa = strides_in(a, out), sb = strides_in(b, out);
  // The longest suffix of axes along which each operand is contiguous or a single element.
  int first = out.rank();
  while (first > 0) {
    const bool a_simple = is_dense_from(out, sa, first - 1) || is_repeated_from(out, sa, first - 1);
    const bool b_simple = is_dense_from(out, sb, first - 1) || is_repeated_from(out, sb, first - 1);
    if (!a_simple || !b_simple) break;
    --first;
  }
  layout.inner = 1;
  for (int axis = first; axis < out.rank(); ++axis) layout.inner *= out.dim(axis);
  layout.a_step = layout.inner == 1 || !is_repeated_from(out, sa, first) ? 1 : 0;
  layout.b_step = layout.inner == 1 || !is_repeated_from(out, sb, first) ? 1 : 0;
  if (first == 0) return layout;
  const int64_t blocks = layout.n / layout.inner;
  std::vector<int64_t> index(static_cast<size_t>(first), 0);
  int64_t ia = 0, ib = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    layout.a_offsets.push_back(ia);
    layout.b_offsets.push_back(ib);
    for (int axis = first - 1; axis >= 0; --axis) {
      const auto k = static_cast<size_t>(axis);
      ++index[k];
      ia += sa[k];
      ib += sb[k];
      if (index[k] < out.dim(axis)) break;
      ia -= sa[k] * index[k];
      ib -= sb[k] * index[k];
      index[k] = 0;
    }
  }
  return layout;
}

}  // namespace runhooks
