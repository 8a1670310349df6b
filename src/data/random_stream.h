// What lives here: RandomStream, a place in a stream of random numbers that can be saved.
// Who may use it: data.
// What it must not know: what the numbers are for.
#pragma once

#include "base/random.h"
#include "data/transformation.h"

namespace runhooks {

class RandomStream {
 public:
  explicit RandomStream(Seeds seeds) : seeds_(seeds), philox_(seeds.seed, seeds.seed2) {}
  uint32_t next() {
    ++drawn_;
    return philox_.next();
  }
  Seeds seeds() const { return seeds_; }
  NamedTensors save() const {
    return {{"seed", Tensor::scalar(static_cast<int64_t>(seeds_.seed))},
            {"seed2", Tensor::scalar(static_cast<int64_t>(seeds_.seed2))},
            {"drawn", Tensor::scalar(drawn_)}};
  }
  static RandomStream restored(const NamedTensors& state) {
    RandomStream stream({static_cast<uint64_t>(state_integer(state, "seed")),
                         static_cast<uint64_t>(state_integer(state, "seed2"))});
    stream.drawn_ = state_count(state, "drawn");
    stream.philox_.go_to(static_cast<uint64_t>(stream.drawn_));
    return stream;
  }

 private:
  Seeds seeds_;
  Philox philox_;
  int64_t drawn_ = 0;
};

}  // namespace runhooks
