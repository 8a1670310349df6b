// What lives here: how ops of our own are written in TensorFlow's, one function an op; what these functions share.
// Who may use it: the registrations of those ops, and of those of training.
// What it must not know: kernels, sessions, R.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The last operation that an op is lowered to has its name.
inline std::string result_name(const Operation& op) { return op.name() + "/"; }

inline Output int64_scalar(Graph& g, int64_t x, const char* name = "Const") {
  return g.constant(Tensor::scalar<int64_t>(x), name);
}
// Dimension i of x as an int32 scalar, a constant where it is known.
Output dimension(Graph& g, Output x, int i);
// [batch, everything else].
Output as_matrix(Graph& g, Output x);

// Of features to ids (categorical_ids.cpp, cross_ids.cpp).
void lower_hash_ids(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_vocabulary_ids(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_vocabulary_file_ids(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_identity_ids(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_bucket_ids(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_cross_ids(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_multi_hot(Graph& g, const Operation& op, const std::vector<Output>& inputs);

// Of look-ups and their gradients (embedding_lookup.cpp, sum_duplicate_rows.cpp).
void lower_lookup(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_lookup_grad(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_lookup_weights_grad(Graph& g, const Operation& op, const std::vector<Output>& inputs);
// TensorFlow 1 has no op for this gradient (segment.cpp).
void lower_sparse_segment_sum_grad(Graph& g,
                                   const Operation& op,
                                   const std::vector<Output>& inputs);
void lower_sum_duplicate_rows(Graph& g, const Operation& op, const std::vector<Output>& inputs);

}  // namespace runhooks
