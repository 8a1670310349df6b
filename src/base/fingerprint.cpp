#include "base/fingerprint.h"

#include <charconv>
#include <cstring>
#include <utility>

namespace runhooks {

namespace {

constexpr uint64_t kK0 = 0xc3a5c85c97cb3127;
constexpr uint64_t kK1 = 0xb492b66fbe98f273;
constexpr uint64_t kK2 = 0x9ae16a3b2f90404f;

// Reads a little-endian number, on any machine.
template <typename T>
T fetch(const char* s) {
  T value = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  for (size_t i = sizeof(T); i > 0; --i) value = (value << 8) | static_cast<uint8_t>(s[i - 1]);
#else
  std::memcpy(&value, s, sizeof(T));
#endif
  return value;
}
uint64_t fetch64(const char* s) { return fetch<uint64_t>(s); }

uint64_t rotate(uint64_t x, int shift) { return (x >> shift) | (x << (64 - shift)); }
uint64_t shift_mix(uint64_t x) { return x ^ (x >> 47); }

uint64_t mix(uint64_t u, uint64_t v, uint64_t mul) {
  const uint64_t a = shift_mix((u ^ v) * mul);
  return shift_mix((v ^ a) * mul) * mul;
}

uint64_t hash_up_to_16(const char* s, uint64_t n) {
  const uint64_t mul = kK2 + n * 2;
  if (n >= 8) {
    const uint64_t a = fetch64(s) + kK2, b = fetch64(s + n - 8);
    return mix(rotate(b, 37) * mul + a, (rotate(a, 25) + b) * mul, mul);
  }
  if (n >= 4) {
    return mix(n + (uint64_t{fetch<uint32_t>(s)} << 3), fetch<uint32_t>(s + n - 4), mul);
  }
  if (n == 0) return kK2;
  const auto byte = [s](uint64_t i) { return uint64_t{static_cast<uint8_t>(s[i])}; };
  const uint64_t y = byte(0) + (byte(n >> 1) << 8), z = n + (byte(n - 1) << 2);
  return shift_mix(y * kK2 ^ z * kK0) * kK2;
}

uint64_t hash_up_to_32(const char* s, uint64_t n) {
  const uint64_t mul = kK2 + n * 2;
  const uint64_t a = fetch64(s) * kK1, b = fetch64(s + 8);
  const uint64_t c = fetch64(s + n - 8) * mul, d = fetch64(s + n - 16) * kK2;
  return mix(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + kK2, 18) + c, mul);
}

uint64_t hash_up_to_64(const char* s, uint64_t n) {
  const uint64_t mul = kK2 + n * 2;
  const uint64_t a = fetch64(s) * kK2, b = fetch64(s + 8);
  const uint64_t c = fetch64(s + n - 8) * mul, d = fetch64(s + n - 16) * kK2;
  const uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d;
  const uint64_t z = mix(y, a + rotate(b + kK2, 18) + c, mul);
  const uint64_t e = fetch64(s + 16) * mul, f = fetch64(s + 24);
  const uint64_t g = (y + fetch64(s + n - 32)) * mul, h = (z + fetch64(s + n - 24)) * mul;
  return mix(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, mul);
}

using Pair = std::pair<uint64_t, uint64_t>;

Pair weak_hash_32(const char* s, uint64_t a, uint64_t b) {
  const uint64_t w = fetch64(s), x = fetch64(s + 8), y = fetch64(s + 16), z = fetch64(s + 24);
  a += w;
  b = rotate(b + a + z, 21);
  const uint64_t c = a;
  a += x + y;
  b += rotate(a, 44);
  return {a + z, b + c};
}

uint64_t hash_longer(const char* s, uint64_t n) {
  constexpr uint64_t kSeed = 81;
  uint64_t x = kSeed * kK2 + fetch64(s);
  uint64_t y = kSeed * kK1 + 113;
  uint64_t z = shift_mix(y * kK2 + 113) * kK2;
  Pair v(0, 0), w(0, 0);
  const char* end = s + (n - 1) / 64 * 64;
  const char* last = end + ((n - 1) & 63) - 63;
  auto round = [&](const char* p, uint64_t mul, uint64_t w_factor, uint64_t v_factor) {
    x = rotate(x + y + v.first + fetch64(p + 8), 37) * mul;
    y = rotate(y + v.second + fetch64(p + 48), 42) * mul;
    x ^= w.second * w_factor;
    y += v.first * v_factor + fetch64(p + 40);
    z = rotate(z + w.first, 33) * mul;
    v = weak_hash_32(p, v.second * mul, x + w.first);
    w = weak_hash_32(p + 32, z + w.second, y + fetch64(p + 16));
    std::swap(z, x);
  };
  for (; s != end; s += 64) round(s, kK1, 1, 1);
  const uint64_t mul = kK1 + ((z & 0xff) << 1);
  w.first += (n - 1) & 63;
  v.first += w.first;
  w.first += v.first;
  round(last, mul, 9, 9);
  return mix(mix(v.first, w.first, mul) + shift_mix(y) * kK0 + z, mix(v.second, w.second, mul) + x,
             mul);
}

}  // namespace

uint64_t fingerprint64(std::string_view text) {
  const uint64_t n = text.size();
  if (n <= 16) return hash_up_to_16(text.data(), n);
  if (n <= 32) return hash_up_to_32(text.data(), n);
  if (n <= 64) return hash_up_to_64(text.data(), n);
  return hash_longer(text.data(), n);
}

uint64_t fingerprint64(int64_t number) {
  char text[24];
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), number);
  return fingerprint64(std::string_view(text, static_cast<size_t>(end.ptr - text)));
}

uint64_t fingerprint_cat64(uint64_t first, uint64_t second) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995;
  uint64_t result = first ^ kMul;
  result ^= shift_mix(second * kMul) * kMul;
  result *= kMul;
  return shift_mix(shift_mix(result) * kMul);
}

}  // namespace runhooks
