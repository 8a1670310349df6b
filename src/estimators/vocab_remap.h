// What lives here: VocabInfo, and the value of a variable whose rows belong to the words of another vocabulary.
// Who may use it: warm starts.
// What it must not know: graphs that are trained, checkpoints, R.
#pragma once

#include <string>

#include "graph/args.h"
#include "graph/variable.h"

namespace runhooks {

// tf.train.VocabInfo: the rows (or, with axis 1, columns) of a variable belong to the lines of a
// file, and those of its earlier value to the lines of another.
struct VocabInfo {
  VocabInfo() = default;
  explicit VocabInfo(const Args& args);
  std::string new_vocab, old_vocab;
  int64_t new_size = 0, num_oov_buckets = 0, old_size = -1;
  int64_t axis = 0;
  // Of rows that the old vocabulary does not have; none: zeros.
  Initializer backup;
};

// The earlier value with its rows put where the same words are now. `wanted` is the shape of the
// variable, of which `offset` is the first row where it is a part.
Tensor remapped(const VocabInfo& info,
                const Tensor& old_value,
                const Shape& wanted,
                int64_t offset,
                const std::string& name);

}  // namespace runhooks
