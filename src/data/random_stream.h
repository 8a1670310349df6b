// RandomStream: a stream of random 32-bit numbers whose position can be saved.
#pragma once

#include "base/random.h"
#include "data/one_input_dataset.h"

namespace runhooks {

class RandomStream {
 public:
  explicit RandomStream(Seeds seeds) : seeds_(seeds) {}
  uint32_t next() {
    if (num_used_ == kBlockSize) refill();
    ++num_drawn_;
    return block_[num_used_++];
  }
  Seeds seeds() const { return seeds_; }
  NamedTensors save() const {
    return {{"seed", Tensor::scalar(static_cast<int64_t>(seeds_.seed))},
            {"seed2", Tensor::scalar(static_cast<int64_t>(seeds_.seed2))},
            {"drawn", Tensor::scalar(num_drawn_)}};
  }
  static RandomStream restored(const NamedTensors& state) {
    RandomStream stream({static_cast<uint64_t>(state_integer(state, "seed")),
                         static_cast<uint64_t>(state_integer(state, "seed2"))});
    stream.num_drawn_ = state_count(state, "drawn");
    return stream;
  }

 private:
  static constexpr int kBlockSize = 4 * Philox::kLanes;

  void refill() {
    Philox(seeds_.seed, seeds_.seed2).blocks(static_cast<uint64_t>(num_drawn_) / 4, block_);
    num_used_ = static_cast<int>(num_drawn_ % 4);
  }

  Seeds seeds_;
  int64_t num_drawn_ = 0;
  uint32_t block_[kBlockSize];  // numbers; the first `num_used_` of them have been drawn
  int num_used_ = kBlockSize;
};

}  // namespace runhooks
