// VocabInfo: maps the rows of a variable from an old vocabulary to a new one, for warm starts.
#pragma once

#include <string>

#include "graph/args.h"
#include "graph/variable.h"

namespace runhooks {

// tf.train.VocabInfo: the rows (or, with axis 1, columns) of a variable belong to the lines of a
// vocabulary file, and those of its previous value to the lines of another file.
struct VocabInfo {
  VocabInfo() = default;
  explicit VocabInfo(const Args& args);
  std::string new_vocab, old_vocab;
  int64_t new_size = 0, num_oov_buckets = 0, old_size = -1;
  int64_t axis = 0;
  // Initializes rows that are not in the old vocabulary; zeros if empty.
  Initializer backup;
};

// Moves the rows of the previous value to the positions of their words in the new vocabulary.
// `new_shape` is the shape of the variable. For a part of a partitioned variable, `offset` is the
// part's first row.
Tensor remapped(const VocabInfo& info,
                const Tensor& old_value,
                const Shape& new_shape,
                int64_t offset,
                const std::string& name);

}  // namespace runhooks
