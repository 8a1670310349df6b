// CRC-32C, the checksum of records, tables and tensors, and its masked form on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace runhooks {

// Extends a checksum: if `crc` is the checksum of some bytes, returns that of these bytes followed
// by the `size` bytes at `data`.
uint32_t crc32c_extend(uint32_t crc, const void* data, size_t size);

inline uint32_t crc32c(const void* data, size_t size) { return crc32c_extend(0, data, size); }
inline uint32_t crc32c(std::string_view bytes) { return crc32c(bytes.data(), bytes.size()); }

// Returns the checksum of two consecutive blocks, from their checksums and the size of the second.
uint32_t crc32c_combine(uint32_t crc, uint32_t next_crc, uint64_t next_size);
// Returns the same checksum as crc32c(), computed on several threads.
uint32_t crc32c_parallel(const void* data, size_t size);

// Stored checksums are masked, because a CRC of data that contain their own CRC is weak.
constexpr uint32_t kCrcMaskDelta = 0xa282ead8u;
inline uint32_t mask_crc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + kCrcMaskDelta; }
// lint: allow caller (only tests unmask a checksum)
inline uint32_t unmask_crc(uint32_t masked) {
  const uint32_t rotated = masked - kCrcMaskDelta;
  return (rotated >> 17) | (rotated << 15);
}

namespace internal {
// Exposed for tests. The hardware variant falls back to the portable one.
uint32_t crc32c_extend_portable(uint32_t crc, const void* data, size_t size);
uint32_t crc32c_extend_hardware(uint32_t crc, const void* data, size_t size);
bool crc32c_has_hardware();
}  // namespace internal

}  // namespace runhooks
