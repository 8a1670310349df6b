#include "base/random.h"

#include <atomic>
#include <random>
#include <utility>

#include "base/scoped_value.h"

namespace runhooks {

namespace {

uint64_t (*seed_source)() = random_device_u64;
thread_local SeedSourceScope* current_scope = nullptr;

uint64_t draw_u64(std::random_device& device) {
  return (static_cast<uint64_t>(device()) << 32) | device();
}

}  // namespace

uint64_t random_device_u64() {
  // Constructing a random_device is slow on virtual machines, so one instance is shared. It is
  // never destroyed, because threads may outlive static objects. If another thread uses it, this
  // thread creates its own. After a fork during a draw, the child always creates its own.
  static auto* const shared_device = new std::random_device;
  static std::atomic_flag is_in_use = ATOMIC_FLAG_INIT;
  if (is_in_use.test_and_set(std::memory_order_acquire)) {
    std::random_device temporary;
    return draw_u64(temporary);
  }
  const uint64_t number = draw_u64(*shared_device);
  is_in_use.clear(std::memory_order_release);
  return number;
}

uint64_t fresh_seed() {
  SeedSourceScope* scope = current_scope;
  if (!scope) return seed_source();
  // The source of a scope may itself call fresh_seed(). That call must use the source of the
  // enclosing scope.
  const ScopedValue<SeedSourceScope*> outer(current_scope, scope->outer_);
  return scope->source_();
}

SeedSourceScope::SeedSourceScope(std::function<uint64_t()> source)
    : source_(std::move(source)), outer_(current_scope) {
  current_scope = this;
}
SeedSourceScope::~SeedSourceScope() { current_scope = outer_; }

void set_seed_source(uint64_t (*source)()) { seed_source = source; }

void Philox::block(uint64_t position, uint32_t out[4]) const {
  uint32_t c[4] = {static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32),
                   static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)};
  uint32_t k0 = static_cast<uint32_t>(key_), k1 = static_cast<uint32_t>(key_ >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c[0], p1 = uint64_t{0xCD9E8D57u} * c[2];
    const uint32_t next[4] = {
        static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
        static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    for (int i = 0; i < 4; ++i) c[i] = next[i];
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < 4; ++i) out[i] = c[i];
}

// Loops over lanes have a fixed length, so that compilers vectorize them.
void Philox::blocks(uint64_t position, uint32_t out[4 * kLanes]) const {
  uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t block_position = position + static_cast<uint64_t>(i);
    c0[i] = static_cast<uint32_t>(block_position);
    c1[i] = static_cast<uint32_t>(block_position >> 32);
    c2[i] = static_cast<uint32_t>(stream_);
    c3[i] = static_cast<uint32_t>(stream_ >> 32);
  }
  uint32_t k0 = static_cast<uint32_t>(key_), k1 = static_cast<uint32_t>(key_ >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kLanes; ++i) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * c0[i], p1 = uint64_t{0xCD9E8D57u} * c2[i];
      c0[i] = static_cast<uint32_t>(p1 >> 32) ^ c1[i] ^ k0;
      c2[i] = static_cast<uint32_t>(p0 >> 32) ^ c3[i] ^ k1;
      c1[i] = static_cast<uint32_t>(p1);
      c3[i] = static_cast<uint32_t>(p0);
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < kLanes; ++i) {
    out[4 * i] = c0[i];
    out[4 * i + 1] = c1[i];
    out[4 * i + 2] = c2[i];
    out[4 * i + 3] = c3[i];
  }
}

}  // namespace runhooks
