// The counter-based random generator (Philox 4x32-10) for shuffling and random ops, and sources of
// seeds.
#pragma once

#include <cstdint>
#include <functional>

namespace runhooks {

// Salmon et al. (2011), "Parallel random numbers: as easy as 1, 2, 3". The state consists of two
// seeds and a position, so it can be saved, and any block can be computed directly.
class Philox {
 public:
  Philox(uint64_t seed, uint64_t stream) : key_(seed), stream_(stream) {}

  uint32_t next() {
    if (used_ == 4) {
      block(position_++, words_);
      used_ = 0;
    }
    return words_[used_++];
  }
  // Returns a random number below `n`, which must not exceed 2^32.
  uint64_t below(uint64_t n) { return (static_cast<uint64_t>(next()) * n) >> 32; }
  // Computes the four numbers at a position of the stream.
  void block(uint64_t position, uint32_t out[4]) const;
  // Computes kLanes consecutive blocks with vector instructions.
  static constexpr int kLanes = 8;
  void blocks(uint64_t position, uint32_t out[4 * kLanes]) const;

 private:
  uint64_t key_, stream_, position_ = 0;
  uint32_t words_[4] = {};
  int used_ = 4;
};

// Returns an unpredictable number from the system, for file names and default seeds.
uint64_t random_device_u64();

// Returns a default seed for an op. It is drawn from the generator passed to set_seed_source(), so
// set.seed() makes R scripts reproducible. Call it only on the thread that builds and runs graphs.
uint64_t fresh_seed();
void set_seed_source(uint64_t (*source)());

// Inside this scope, fresh_seed() on this thread calls `source`.
class SeedSourceScope {
 public:
  explicit SeedSourceScope(std::function<uint64_t()> source);
  ~SeedSourceScope();
  SeedSourceScope(const SeedSourceScope&) = delete;
  SeedSourceScope& operator=(const SeedSourceScope&) = delete;

 private:
  friend uint64_t fresh_seed();
  std::function<uint64_t()> source_;
  SeedSourceScope* outer_;
};

}  // namespace runhooks
