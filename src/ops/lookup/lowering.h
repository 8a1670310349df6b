// Functions that lower this package's own ops to TensorFlow's ops (see graph/lowering.h).
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The trailing "/" gives the last op of a lowering exactly the name of the original op.
inline std::string result_name(const Operation& op) { return op.name() + "/"; }

inline Output int64_scalar(Graph& g, int64_t x, const char* name = "Const") {
  return g.constant(Tensor::scalar<int64_t>(x), name);
}
// Returns dimension i of x as an int32 scalar, constant if known.
Output dimension(Graph& g, Output x, int i);
// Reshapes to two dimensions; the first one is unchanged.
Output as_matrix(Graph& g, Output x);

// Lower the ops that convert features to ids (categorical_ids.cpp, cross_ids.cpp).
void lower_hash_ids(Graph& g, const Operation& op, const Outputs& inputs);
void lower_vocabulary_ids(Graph& g, const Operation& op, const Outputs& inputs);
void lower_vocabulary_file_ids(Graph& g, const Operation& op, const Outputs& inputs);
void lower_identity_ids(Graph& g, const Operation& op, const Outputs& inputs);
void lower_bucket_ids(Graph& g, const Operation& op, const Outputs& inputs);
void lower_cross_ids(Graph& g, const Operation& op, const Outputs& inputs);
void lower_multi_hot(Graph& g, const Operation& op, const Outputs& inputs);

// Lower look-ups and their gradients (embedding_lookup.cpp, sum_duplicate_rows.cpp).
void lower_lookup(Graph& g, const Operation& op, const Outputs& inputs);
void lower_lookup_grad(Graph& g, const Operation& op, const Outputs& inputs);
void lower_lookup_weights_grad(Graph& g, const Operation& op, const Outputs& inputs);
// Lowers the gradient of SparseSegmentSum (segment.cpp), for which TensorFlow 1 has no op.
void lower_sparse_segment_sum_grad(Graph& g, const Operation& op, const Outputs& inputs);
void lower_sum_duplicate_rows(Graph& g, const Operation& op, const Outputs& inputs);

}  // namespace runhooks
