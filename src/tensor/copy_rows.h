// copy_rows(): copies many rows of a few bytes each.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace runhooks {

// Copies `bytes` bytes from from_row(i) to to_row(i) for each i below `rows`. Common sizes are
// compile-time constants, so that a row takes a load and a store instead of a call of memcpy().
template <typename FromRow, typename ToRow>
void copy_rows(size_t rows, size_t bytes, FromRow from_row, ToRow to_row) {
  const auto copy_fixed = [&](auto width) {
    constexpr size_t kWidth = decltype(width)::value;
    for (size_t i = 0; i < rows; ++i) std::memcpy(to_row(i), from_row(i), kWidth);
  };
  switch (bytes) {
    case 4:
      return copy_fixed(std::integral_constant<size_t, 4>());
    case 8:
      return copy_fixed(std::integral_constant<size_t, 8>());
    case 16:
      return copy_fixed(std::integral_constant<size_t, 16>());
    case 32:
      return copy_fixed(std::integral_constant<size_t, 32>());
    case 64:
      return copy_fixed(std::integral_constant<size_t, 64>());
    default:
      for (size_t i = 0; i < rows; ++i) std::memcpy(to_row(i), from_row(i), bytes);
  }
}

inline void copy_rows(
    size_t rows, size_t bytes, const char* from, size_t from_stride, char* to, size_t to_stride) {
  copy_rows(
      rows, bytes, [=](size_t i) { return from + i * from_stride; },
      [=](size_t i) { return to + i * to_stride; });
}

}  // namespace runhooks
