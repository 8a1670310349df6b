// proximal_step(): the proximal operator for L1 and L2 penalties.
#pragma once

#include <cmath>

namespace runhooks {

// Proximal operator of rate * (l1 |x| + l2 / 2 x^2), see Duchi and Singer (2009), "Efficient
// learning using forward-backward splitting".
template <typename T>
T proximal_step(T x, T rate, T l1, T l2) {
  if (l1 > 0) {
    const T shrunk = std::abs(x) - rate * l1;
    x = shrunk > 0 ? std::copysign(shrunk, x) : T(0);
  }
  return x / (T(1) + l2 * rate);
}

}  // namespace runhooks
