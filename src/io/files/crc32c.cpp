#include "io/files/crc32c.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/parallel_for.h"
#include "base/platform.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define RUNHOOKS_CRC_SSE42 1
#include <nmmintrin.h>
#elif defined(__aarch64__) && (defined(__linux__) || defined(__APPLE__))
#define RUNHOOKS_CRC_ARM 1
#if defined(__linux__)
#include <sys/auxv.h>
#endif
#endif

namespace runhooks {

namespace {

constexpr uint32_t kPolynomial = 0x82f63b78u;  // Castagnoli, bit-reversed

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// Table k contains, for each value of a byte, the checksum of this byte followed by k zero bytes.
// So the checksum of eight bytes takes eight lookups.
constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kPolynomial : 0);
    tables[0][i] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t i = 0; i < 256; ++i) {
      const uint32_t crc = tables[k - 1][i];
      tables[k][i] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

uint32_t byte_step(uint32_t state, uint8_t byte) {
  return (state >> 8) ^ kTables[0][(state ^ byte) & 0xff];
}

uint32_t eight_bytes_step(uint32_t state, const uint8_t* p) {
  const uint32_t low =
      state ^ (static_cast<uint32_t>(p[0]) | static_cast<uint32_t>(p[1]) << 8 |
               static_cast<uint32_t>(p[2]) << 16 | static_cast<uint32_t>(p[3]) << 24);
  return kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^ kTables[5][(low >> 16) & 0xff] ^
         kTables[4][low >> 24] ^ kTables[3][p[4]] ^ kTables[2][p[5]] ^ kTables[1][p[6]] ^
         kTables[0][p[7]];
}

// Appending zero bits to the data changes the checksum by a linear map over single bits. Element i
// of the array is the result for a checksum in which only bit i is set.
using LinearMap = std::array<uint32_t, 32>;

constexpr uint32_t apply_map(const LinearMap& map, uint32_t crc) {
  uint32_t out = 0;
  for (size_t bit = 0; crc; ++bit, crc >>= 1) {
    if (crc & 1) out ^= map[bit];
  }
  return out;
}

constexpr LinearMap append_one_zero_bit() {
  LinearMap map{};
  map[0] = kPolynomial;
  for (size_t bit = 1; bit < 32; ++bit) map[bit] = uint32_t{1} << (bit - 1);
  return map;
}

constexpr LinearMap applied_twice(const LinearMap& map) {
  LinearMap twice{};
  for (size_t bit = 0; bit < 32; ++bit) twice[bit] = apply_map(map, map[bit]);
  return twice;
}

#if defined(RUNHOOKS_CRC_SSE42) || defined(RUNHOOKS_CRC_ARM)

// The data are split into three streams, computed in turns to hide the latency of the CRC
// instruction. To combine their checksums, an earlier checksum is shifted: it becomes the checksum
// of the same data followed by as many zeros as a stream has bytes. Four tables store this map.
constexpr size_t kStreamBytes = 1024;

using ShiftTables = std::array<std::array<uint32_t, 256>, 4>;

ShiftTables make_shift_tables(size_t bytes) {
  LinearMap map = append_one_zero_bit();  // applied twice until it appends `bytes`, a power of two
  for (size_t bits = 1; bits < 8 * bytes; bits *= 2) map = applied_twice(map);
  ShiftTables tables{};
  for (size_t k = 0; k < 4; ++k) {
    for (uint32_t i = 0; i < 256; ++i) tables[k][i] = apply_map(map, i << (8 * k));
  }
  return tables;
}

const ShiftTables& stream_shift_tables() {
  static const ShiftTables tables = make_shift_tables(kStreamBytes);
  return tables;
}

uint32_t shift(const ShiftTables& tables, uint32_t crc) {
  return tables[0][crc & 0xff] ^ tables[1][(crc >> 8) & 0xff] ^ tables[2][(crc >> 16) & 0xff] ^
         tables[3][crc >> 24];
}

#if defined(RUNHOOKS_CRC_SSE42)
#define RUNHOOKS_CRC_TARGET __attribute__((target("sse4.2")))
#define RUNHOOKS_CRC_8(state, word) static_cast<uint32_t>(_mm_crc32_u64(state, word))
#define RUNHOOKS_CRC_1(state, byte) _mm_crc32_u8(state, byte)
#else
// GCC and clang name the builtins differently, but share the assembler syntax.
uint32_t arm_crc_8(uint32_t state, uint64_t word) {
  asm(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(state) : "r"(word));
  return state;
}
uint32_t arm_crc_1(uint32_t state, uint8_t byte) {
  asm(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(state) : "r"(uint32_t{byte}));
  return state;
}
bool arm_has_crc() {
#if defined(__linux__)
  constexpr unsigned long kHasCrc32 = 1ul << 7;  // HWCAP_CRC32  NOLINT: getauxval's type
  return (getauxval(AT_HWCAP) & kHasCrc32) != 0;
#else
  return true;  // all Apple CPUs have it
#endif
}
#define RUNHOOKS_CRC_TARGET
#define RUNHOOKS_CRC_8(state, word) arm_crc_8(state, word)
#define RUNHOOKS_CRC_1(state, byte) arm_crc_1(state, byte)
#endif

RUNHOOKS_CRC_TARGET uint32_t extend_with_instruction(uint32_t crc, const uint8_t* p, size_t size) {
  uint32_t a = ~crc;
  uint64_t words[3];
  if (size >= 3 * kStreamBytes) {
    const ShiftTables& tables = stream_shift_tables();
    for (; size >= 3 * kStreamBytes; size -= 3 * kStreamBytes, p += 3 * kStreamBytes) {
      uint32_t b = 0, c = 0;
      for (size_t i = 0; i < kStreamBytes; i += 8) {
        std::memcpy(&words[0], p + i, 8);
        std::memcpy(&words[1], p + kStreamBytes + i, 8);
        std::memcpy(&words[2], p + 2 * kStreamBytes + i, 8);
        a = RUNHOOKS_CRC_8(a, words[0]);
        b = RUNHOOKS_CRC_8(b, words[1]);
        c = RUNHOOKS_CRC_8(c, words[2]);
      }
      a = shift(tables, shift(tables, a) ^ b) ^ c;
    }
  }
  for (; size >= 8; size -= 8, p += 8) {
    std::memcpy(&words[0], p, 8);
    a = RUNHOOKS_CRC_8(a, words[0]);
  }
  for (; size > 0; --size, ++p) a = RUNHOOKS_CRC_1(a, *p);
  return ~a;
}

#endif

}  // namespace

namespace internal {

uint32_t crc32c_extend_portable(uint32_t crc, const void* data, size_t size) {
  const auto* p = static_cast<const uint8_t*>(data);
  uint32_t state = ~crc;
  for (; size >= 8; size -= 8, p += 8) state = eight_bytes_step(state, p);
  for (; size > 0; --size, ++p) state = byte_step(state, *p);
  return ~state;
}

bool crc32c_has_hardware() {
#if defined(RUNHOOKS_CRC_SSE42)
  static const bool has =
      __builtin_cpu_supports("sse4.2") && feature_enabled(SystemFeature::kCrc32);
  return has;
#elif defined(RUNHOOKS_CRC_ARM)
  static const bool has = arm_has_crc() && feature_enabled(SystemFeature::kCrc32);
  return has;
#else
  return false;
#endif
}

uint32_t crc32c_extend_hardware(uint32_t crc, const void* data, size_t size) {
#if defined(RUNHOOKS_CRC_SSE42) || defined(RUNHOOKS_CRC_ARM)
  if (crc32c_has_hardware()) {
    return extend_with_instruction(crc, static_cast<const uint8_t*>(data), size);
  }
#endif
  return crc32c_extend_portable(crc, data, size);
}

}  // namespace internal

uint32_t crc32c_extend(uint32_t crc, const void* data, size_t size) {
  return internal::crc32c_extend_hardware(crc, data, size);
}

uint32_t crc32c_combine(uint32_t crc, uint32_t next_crc, uint64_t next_size) {
  LinearMap map = applied_twice(applied_twice(applied_twice(append_one_zero_bit())));
  for (; next_size > 0; next_size >>= 1) {
    if (next_size & 1) crc = apply_map(map, crc);
    if (next_size > 1) map = applied_twice(map);
  }
  return crc ^ next_crc;
}

uint32_t crc32c_parallel(const void* data, size_t size) {
  constexpr size_t kChunkBytes = size_t{1} << 20;
  if (size < 2 * kChunkBytes) return crc32c(data, size);
  const size_t count = (size - 1) / kChunkBytes + 1;
  std::vector<uint32_t> crcs(count);
  const auto* bytes = static_cast<const char*>(data);
  const auto size_of = [=](size_t i) { return std::min(kChunkBytes, size - i * kChunkBytes); };
  parallel_for(static_cast<int64_t>(count), [&](int64_t chunk) {
    const auto i = static_cast<size_t>(chunk);
    crcs[i] = crc32c(bytes + i * kChunkBytes, size_of(i));
  });
  uint32_t crc = 0;
  for (size_t i = 0; i < count; ++i) crc = crc32c_combine(crc, crcs[i], size_of(i));
  return crc;
}

}  // namespace runhooks
