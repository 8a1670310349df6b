#include "ops/math/elementwise.h"

#include <algorithm>
#include <cstring>

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

// Size of the buffer for a repeated operand. Several blocks of at most a quarter of it share one
// call of the loop, because calls with few elements are slow.
constexpr int64_t kBufferElements = 256;
constexpr size_t kLargestElement = 8;

struct ElementBuffer {
  alignas(32) char bytes[static_cast<size_t>(kBufferElements) * kLargestElement];
};

// Copies blocks of `inner` elements, `step` apart, from their offsets. By memcpy(), since elements
// of all types of one size are copied by the same code.
template <size_t kSize>
void copy_blocks(
    const char* x, const int64_t* offsets, int64_t blocks, int64_t inner, int64_t step, char* to) {
  for (int64_t block = 0; block < blocks; ++block) {
    const char* from = x + offsets[block] * static_cast<int64_t>(kSize);
    for (int64_t i = 0; i < inner; ++i, to += kSize) {
      std::memcpy(to, from + i * step * static_cast<int64_t>(kSize), kSize);
    }
  }
}

const char* copied_blocks(size_t size,
                          const char* x,
                          const int64_t* offsets,
                          int64_t blocks,
                          int64_t inner,
                          int64_t step,
                          ElementBuffer& buffer) {
  switch (size) {
    case 1:
      copy_blocks<1>(x, offsets, blocks, inner, step, buffer.bytes);
      break;
    case 4:
      copy_blocks<4>(x, offsets, blocks, inner, step, buffer.bytes);
      break;
    case 8:
      copy_blocks<8>(x, offsets, blocks, inner, step, buffer.bytes);
      break;
    default:
      fail(Code::kInternal, "Elements of ", size, " bytes are not broadcast.");
  }
  return buffer.bytes;
}

// run(first, count) for all n elements, by several threads where they may be shared.
template <typename Run>
void maybe_parallel_for_range(bool is_shared, int64_t n, const Run& run) {
  if (is_shared) {
    parallel_for_range(n, run);
  } else {
    run(int64_t{0}, n);
  }
}

bool is_contiguous(const std::vector<int64_t>& offsets, int64_t inner, int64_t step) {
  for (size_t block = 0; block < offsets.size(); ++block) {
    if (offsets[block] != static_cast<int64_t>(block) * inner) return false;
  }
  return step == 1;
}

}  // namespace

void UnaryLoopKernel::prepare(KernelContext& c) {
  x_ = static_cast<const char*>(c.input(0).raw());
  y_ = static_cast<char*>(c.output(0).raw());
  n_ = c.input(0).num_elements();
}

void UnaryLoopKernel::compute(KernelContext&) {
  maybe_parallel_for_range(is_shared_, n_, [this](int64_t first, int64_t count) {
    const auto at = static_cast<size_t>(first);
    loop_(x_ + at * in_size_, y_ + at * out_size_, count);
  });
}

void BinaryLoopKernel::prepare(KernelContext& c) {
  a_ = static_cast<const char*>(c.input(0).raw());
  b_ = static_cast<const char*>(c.input(1).raw());
  y_ = static_cast<char*>(c.output(0).raw());
  layout_ = broadcast_layout(c.input(0).shape(), c.input(1).shape(), c.output(0).shape());
  a_is_dense_ = is_contiguous(layout_.a_offsets, layout_.inner, layout_.a_step);
  b_is_dense_ = is_contiguous(layout_.b_offsets, layout_.inner, layout_.b_step);
}

void BinaryLoopKernel::compute(KernelContext&) {
  if (layout_.a_offsets.empty()) return run_block(a_, b_, y_);
  if (layout_.inner <= kBufferElements / 4) return run_small_blocks();
  char* y = y_;
  for (size_t block = 0; block < layout_.a_offsets.size(); ++block) {
    run_block(a_ + static_cast<size_t>(layout_.a_offsets[block]) * in_size_,
              b_ + static_cast<size_t>(layout_.b_offsets[block]) * in_size_, y);
    y += static_cast<size_t>(layout_.inner) * out_size_;
  }
}

void BinaryLoopKernel::run_block(const char* a, const char* b, char* y) const {
  maybe_parallel_for_range(is_shared_, layout_.inner, [=](int64_t first, int64_t count) {
    const char* a_part = a + static_cast<size_t>(first * layout_.a_step) * in_size_;
    const char* b_part = b + static_cast<size_t>(first * layout_.b_step) * in_size_;
    char* y_part = y + static_cast<size_t>(first) * out_size_;
    if (layout_.a_step == 1 && layout_.b_step == 1) {
      loop_(a_part, b_part, y_part, count);
    } else {
      run_repeated(a_part, b_part, y_part, count);
    }
  });
}

void BinaryLoopKernel::run_repeated(const char* a, const char* b, char* y, int64_t n) const {
  ElementBuffer a_buffer, b_buffer;
  const int64_t at_once = std::min(n, kBufferElements), offset = 0;
  if (layout_.a_step == 0) a = copied_blocks(in_size_, a, &offset, 1, at_once, 0, a_buffer);
  if (layout_.b_step == 0) b = copied_blocks(in_size_, b, &offset, 1, at_once, 0, b_buffer);
  for (int64_t left = n; left > 0; left -= at_once) {
    loop_(a, b, y, std::min(left, at_once));
    a += static_cast<size_t>(at_once * layout_.a_step) * in_size_;
    b += static_cast<size_t>(at_once * layout_.b_step) * in_size_;
    y += static_cast<size_t>(at_once) * out_size_;
  }
}

void BinaryLoopKernel::run_small_blocks() const {
  ElementBuffer a_buffer, b_buffer;
  const BroadcastLayout& l = layout_;
  const auto blocks = static_cast<int64_t>(l.a_offsets.size()), at_once = kBufferElements / l.inner;
  char* y = y_;
  for (int64_t k = 0; k < blocks; k += at_once) {
    const int64_t count = std::min(at_once, blocks - k);
    const auto bytes = static_cast<size_t>(k * l.inner) * in_size_;
    const char* a = a_is_dense_ ? a_ + bytes
                                : copied_blocks(in_size_, a_, &l.a_offsets[static_cast<size_t>(k)],
                                                count, l.inner, l.a_step, a_buffer);
    const char* b = b_is_dense_ ? b_ + bytes
                                : copied_blocks(in_size_, b_, &l.b_offsets[static_cast<size_t>(k)],
                                                count, l.inner, l.b_step, b_buffer);
    loop_(a, b, y, count * l.inner);
    y += static_cast<size_t>(count * l.inner) * out_size_;
  }
}

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
