// What lives here: batches of rows of tensors in memory, shuffled or not, repeated or not.
// Who may use it: the bindings, estimators.
// What it must not know: where the tensors came from, R.
#pragma once

#include "data/dataset.h"

namespace runhooks {

struct InMemoryOptions {
  int64_t batch_size = 128;
  int64_t num_epochs = 1;  // 0: for ever
  bool shuffle = false;
  uint64_t seed = 0;
};

// The first dimension of every tensor counts the rows. With several epochs the rows are one stream
// that is cut into batches, so a batch may hold the last rows of one epoch and the first of the
// next; only the very last one can be short. When shuffled, each epoch has an order of its own,
// which depends on the seed and the epoch alone.
std::shared_ptr<Dataset> in_memory_dataset(std::vector<Tensor> tensors,
                                           const InMemoryOptions& options);

}  // namespace runhooks
