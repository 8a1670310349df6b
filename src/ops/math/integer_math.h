// Integer sums and products that wrap around on overflow.
#pragma once

#include <type_traits>

namespace runhooks {

// Computes f in unsigned arithmetic, because signed overflow is undefined behaviour in C++.
// TensorFlow's integers wrap around.
template <typename T, typename F>
constexpr T wrapping(T a, T b, F f) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    // At least unsigned int, since shorter types would be promoted to int.
    using U = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return f(a, b);
  }
}

template <typename T>
constexpr T wrapping_add(T a, T b) {
  return wrapping(a, b, [](auto x, auto y) { return x + y; });
}
template <typename T>
constexpr T wrapping_subtract(T a, T b) {
  return wrapping(a, b, [](auto x, auto y) { return x - y; });
}
template <typename T>
constexpr T wrapping_multiply(T a, T b) {
  return wrapping(a, b, [](auto x, auto y) { return x * y; });
}
template <typename T>
constexpr T wrapping_negative(T x) {
  if constexpr (std::is_integral_v<T>) return wrapping_subtract(T(0), x);
  return -x;
}

}  // namespace runhooks
