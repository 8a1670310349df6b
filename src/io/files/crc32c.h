// CRC-32C, the checksum of records, tables and tensors, and its masked form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace runhooks {

// The checksum of a + b, where `crc` is that of a. crc32c_extend(0, b) is the checksum of b alone.
uint32_t crc32c_extend(uint32_t crc, const void* data, size_t size);

inline uint32_t crc32c(const void* data, size_t size) { return crc32c_extend(0, data, size); }
inline uint32_t crc32c(std::string_view bytes) { return crc32c(bytes.data(), bytes.size()); }

// The checksum of a + b, of those of a and of b, and the size of b.
uint32_t crc32c_joined(uint32_t crc, uint32_t behind, uint64_t size);
// The same as crc32c(), with the help of other threads where that is worth it.
uint32_t crc32c_of_large(const void* data, size_t size);

// On disk a checksum is masked, because the checksum of bytes that hold their own checksum is weak.
constexpr uint32_t kCrcMaskDelta = 0xa282ead8u;
inline uint32_t mask_crc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + kCrcMaskDelta; }
// lint: allow caller (a part of the format, which real TensorFlow reads in tests)
inline uint32_t unmask_crc(uint32_t masked) {
  const uint32_t rotated = masked - kCrcMaskDelta;
  return (rotated >> 17) | (rotated << 15);
}

namespace internal {
// The two ways to compute it; tests compare them. The second falls back to the first where the CPU
// lacks it.
uint32_t crc32c_extend_portable(uint32_t crc, const void* data, size_t size);
uint32_t crc32c_extend_hardware(uint32_t crc, const void* data, size_t size);
bool crc32c_has_hardware();
}  // namespace internal

}  // namespace runhooks
