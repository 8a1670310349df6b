#include "ops/math/elementwise.h"

#include <algorithm>
#include <cstring>

namespace runhooks {

namespace {

// Returns the strides of an operand along the axes of the output; 0 along axes where it is
// repeated.
std::vector<int64_t> broadcast_strides(const Shape& operand, const Shape& out) {
  std::vector<int64_t> strides(static_cast<size_t>(out.rank()), 0);
  int64_t stride = 1;
  for (int i = operand.rank() - 1; i >= 0; --i) {
    const int axis = i + out.rank() - operand.rank();
    if (operand.dim(i) != 1) strides[static_cast<size_t>(axis)] = stride;
    stride *= operand.dim(i);
  }
  return strides;
}

// Whether the operand is contiguous along the axes from `first` on.
bool is_contiguous_from(const Shape& out, const std::vector<int64_t>& strides, int first) {
  int64_t expected = 1;
  for (int axis = out.rank() - 1; axis >= first; --axis) {
    if (out.dim(axis) != 1 && strides[static_cast<size_t>(axis)] != expected) return false;
    expected *= out.dim(axis);
  }
  return true;
}

// Whether the operand is one element that is repeated along the axes from `first` on.
bool is_repeated_from(const Shape& out, const std::vector<int64_t>& strides, int first) {
  for (int axis = first; axis < out.rank(); ++axis) {
    if (out.dim(axis) != 1 && strides[static_cast<size_t>(axis)] != 0) return false;
  }
  return true;
}

// The size of the buffer for a repeated operand. One call of the loop processes several blocks that
// are smaller than a quarter of the buffer, because calls for few elements are slow.
constexpr int64_t kBufferElements = 256;
constexpr size_t kMaxElementSize = 8;

struct ElementBuffer {
  alignas(32) char bytes[static_cast<size_t>(kBufferElements) * kMaxElementSize];
};

// Copies blocks of `inner` elements, which are `step` apart, from their offsets to a buffer. Uses
// memcpy(), so that all types of one size share this code.
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

const char* copy_to_buffer(size_t size,
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

// Calls run(first, count) for chunks of n elements, in parallel if `may_parallelize`.
template <typename Run>
void maybe_parallel_for_range(bool may_parallelize, int64_t n, const Run& run) {
  if (may_parallelize) {
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
  maybe_parallel_for_range(may_parallelize_, n_, [this](int64_t first, int64_t count) {
    const auto offset = static_cast<size_t>(first);
    loop_(x_ + offset * in_size_, y_ + offset * out_size_, count);
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
  maybe_parallel_for_range(may_parallelize_, layout_.inner, [=](int64_t first, int64_t count) {
    const char* a_chunk = a + static_cast<size_t>(first * layout_.a_step) * in_size_;
    const char* b_chunk = b + static_cast<size_t>(first * layout_.b_step) * in_size_;
    char* y_chunk = y + static_cast<size_t>(first) * out_size_;
    if (layout_.a_step == 1 && layout_.b_step == 1) {
      loop_(a_chunk, b_chunk, y_chunk, count);
    } else {
      run_repeated(a_chunk, b_chunk, y_chunk, count);
    }
  });
}

void BinaryLoopKernel::run_repeated(const char* a, const char* b, char* y, int64_t n) const {
  ElementBuffer a_buffer, b_buffer;
  const int64_t chunk = std::min(n, kBufferElements), offset = 0;
  if (layout_.a_step == 0) a = copy_to_buffer(in_size_, a, &offset, 1, chunk, 0, a_buffer);
  if (layout_.b_step == 0) b = copy_to_buffer(in_size_, b, &offset, 1, chunk, 0, b_buffer);
  for (int64_t remaining = n; remaining > 0; remaining -= chunk) {
    loop_(a, b, y, std::min(remaining, chunk));
    a += static_cast<size_t>(chunk * layout_.a_step) * in_size_;
    b += static_cast<size_t>(chunk * layout_.b_step) * in_size_;
    y += static_cast<size_t>(chunk) * out_size_;
  }
}

void BinaryLoopKernel::run_small_blocks() const {
  ElementBuffer a_buffer, b_buffer;
  const BroadcastLayout& l = layout_;
  const auto blocks = static_cast<int64_t>(l.a_offsets.size()), chunk = kBufferElements / l.inner;
  char* y = y_;
  for (int64_t k = 0; k < blocks; k += chunk) {
    const int64_t count = std::min(chunk, blocks - k);
    const auto bytes = static_cast<size_t>(k * l.inner) * in_size_;
    const char* a = a_is_dense_ ? a_ + bytes
                                : copy_to_buffer(in_size_, a_, &l.a_offsets[static_cast<size_t>(k)],
                                                 count, l.inner, l.a_step, a_buffer);
    const char* b = b_is_dense_ ? b_ + bytes
                                : copy_to_buffer(in_size_, b_, &l.b_offsets[static_cast<size_t>(k)],
                                                 count, l.inner, l.b_step, b_buffer);
    loop_(a, b, y, count * l.inner);
    y += static_cast<size_t>(count * l.inner) * out_size_;
  }
}

BroadcastLayout broadcast_layout(const Shape& a, const Shape& b, const Shape& out) {
  BroadcastLayout layout;
  layout.n = layout.inner = out.num_elements();
  if (layout.n == 0) return layout;
  const std::vector<int64_t> sa = broadcast_strides(a, out), sb = broadcast_strides(b, out);
  // Finds the longest suffix of axes along which each operand is contiguous or one element.
  int first = out.rank();
  while (first > 0) {
    const bool a_is_simple =
        is_contiguous_from(out, sa, first - 1) || is_repeated_from(out, sa, first - 1);
    const bool b_is_simple =
        is_contiguous_from(out, sb, first - 1) || is_repeated_from(out, sb, first - 1);
    if (!a_is_simple || !b_is_simple) break;
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
