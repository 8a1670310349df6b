// The counter-based random generator (Philox 4x32-10) behind shuffling and random ops.
#pragma once

#include <cstdint>
#include <functional>

namespace runhooks {

// Salmon et al. (2011), "Parallel random numbers: as easy as 1, 2, 3". Its state is two seeds and a
// position, so it can be saved, and any part of the stream can be had without the part before it.
class Philox {
 public:
  Philox(uint64_t seed, uint64_t stream) : key_(seed), stream_(stream) {}

  // Uniform over 0 ... 2^32 - 1.
  uint32_t next() {
    if (used_ == 4) {
      block(position_++, words_);
      used_ = 0;
    }
    return words_[used_++];
  }
  // Uniform over 0 ... n - 1, for n up to 2^32.
  uint64_t below(uint64_t n) { return (static_cast<uint64_t>(next()) * n) >> 32; }
  // The four words at a place of the stream; next() is not disturbed.
  void block(uint64_t position, uint32_t out[4]) const;
  // The words of kLanes places one after the other, at a fraction of the price.
  static constexpr int kLanes = 8;
  void blocks(uint64_t position, uint32_t out[4 * kLanes]) const;

 private:
  uint64_t key_, stream_, position_ = 0;
  uint32_t words_[4] = {};
  int used_ = 4;
};

// Nobody can foresee it: for names of files, and for seeds where nothing is said of them.
uint64_t random_device_u64();

// A seed where nobody has set one: drawn from the embedding language's generator, if it has
// announced one, so that its own seed makes a script repeat. For the thread that builds and runs
// graphs.
uint64_t fresh_seed();
void set_seed_source(uint64_t (*source)());

// While one lives, fresh_seed() of this thread gives what `source` does.
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
