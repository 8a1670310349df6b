// exp, log1p, sigmoid and tanh. The float32 versions have no branches and no calls, so that the
// compiler can vectorize loops over them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/inline.h"

namespace runhooks {

// Returns e^x for |x| <= 87, accurate to two units in the last place. Uses the argument reduction
// and polynomial of Cephes (Moshier), in the order of TensorFlow's vector code, for identical bits.
RUNHOOKS_INLINE float exp_of_small(float x) {
  const float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = x * 1.44269504088896341f + kRound;
  uint32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  const float n = shifted - kRound;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const uint32_t scale_bits = (bits << 23) + 0x3f800000u;
  float scale;
  std::memcpy(&scale, &scale_bits, sizeof scale);
  return p * scale;
}

// Returns e^x for x <= 0; flushes results below the smallest normal number to 0.
RUNHOOKS_INLINE float exp_nonpositive(float x) { return x < -87.0f ? 0.0f : exp_of_small(x); }
inline double exp_nonpositive(double x) { return std::exp(x); }

// Returns log(1 + e) for e in [0, 1], by the series of atanh.
RUNHOOKS_INLINE float log1p_unit(float e) {
  const float z = e / (2.0f + e), w = z * z;
  float p = 1.0f / 15;
  p = p * w + 1.0f / 13;
  p = p * w + 1.0f / 11;
  p = p * w + 1.0f / 9;
  p = p * w + 1.0f / 7;
  p = p * w + 1.0f / 5;
  p = p * w + 1.0f / 3;
  return 2 * (z + z * w * p);
}
inline double log1p_unit(double e) { return std::log1p(e); }

template <typename T>
RUNHOOKS_INLINE T sigmoid_of(T x) {
  const T e = exp_nonpositive(x < 0 ? x : -x);
  const T s = T(1) / (T(1) + e);
  return x < 0 ? e * s : s;
}

// Returns a * sigmoid(x), computed from e = exp(-|x|) in TensorFlow's order of operations. The last
// bits matter, because they decide between splits of boosted trees with equal gains.
template <typename T>
RUNHOOKS_INLINE T sigmoid_times(T a, T x, T e) {
  const T part = a * (T(1) / (T(1) + e));
  return x < 0 ? part * e : part;
}

template <typename T>
RUNHOOKS_INLINE T softplus_of(T x) {
  const T e = exp_nonpositive(x < 0 ? x : -x);
  return (x < 0 ? T(0) : x) + log1p_unit(e);
}

// Computes tanh by the rational approximation of Eigen. In float32, tanh(x) is 1 for x > 7.9.
RUNHOOKS_INLINE float tanh_of(float x) {
  const float limit = 7.90531110763549805f;
  const float c = x > limit ? limit : (x < -limit ? -limit : x);
  const float w = c * c;
  float p = -2.76076847742355e-16f;
  p = p * w + 2.00018790482477e-13f;
  p = p * w - 8.60467152213735e-11f;
  p = p * w + 5.12229709037114e-08f;
  p = p * w + 1.48572235717979e-05f;
  p = p * w + 6.37261928875436e-04f;
  p = p * w + 4.89352455891786e-03f;
  float q = 1.19825839466702e-06f;
  q = q * w + 1.18534705686654e-04f;
  q = q * w + 2.26843463243900e-03f;
  q = q * w + 4.89352518554385e-03f;
  return c * p / q;
}
inline double tanh_of(double x) { return std::tanh(x); }

}  // namespace runhooks
