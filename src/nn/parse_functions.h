// Specifications of features in serialized examples, and parse_example(), which adds the ops that
// read them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// tf.FixedLenFeature, FixedLenSequenceFeature, VarLenFeature or SparseFeature.
struct FeatureSpec {
  enum class Kind { kFixedLen, kFixedLenSequence, kVarLen, kSparse };
  Kind kind = Kind::kFixedLen;
  std::string key;
  DType dtype = DType::kInvalid;
  Shape shape;
  // Fixed length: has the feature's shape or is a scalar; invalid without a default. Sequence: the
  // padding value.
  Tensor default_value;
  // For sparse features only.
  std::string index_key, value_key;
  int64_t size = 0;
  bool already_sorted = false;
};

// A tensor, or the three components of a sparse tensor.
struct ParsedTensor {
  Output values, indices, dense_shape;
};

// Parses a vector of serialized examples, or a scalar if `is_single`; returns features by name.
// Throws if the specifications are inconsistent.
std::vector<std::pair<std::string, ParsedTensor>> parse_example(
    Graph& graph,
    Output serialized,
    Output names,  // optional
    const std::vector<FeatureSpec>& features,
    bool is_single,
    const std::string& name = "");

}  // namespace runhooks
