// FeatureSpec: describes one feature of serialized tf.Examples. parse_example(): adds the
// operations that parse the features.
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
  // Replaces missing values. For a fixed length: one value, or a tensor with the feature's shape.
  // An invalid Tensor (the default) means that the feature is required. For sequences: the padding
  // value.
  Tensor default_value;
  // The keys of the indices and of the values, and the size of the dense dimension. For sparse
  // features only.
  std::string index_key, value_key;
  int64_t size = 0;
  bool already_sorted = false;
};

// A dense tensor (only `values`), or the three components of a sparse tensor.
struct ParsedTensor {
  Output values, indices, dense_shape;
};

// Parses a vector of serialized examples, or one example if `is_single`. Returns the features with
// their keys. Throws if the specifications are inconsistent.
std::vector<std::pair<std::string, ParsedTensor>> parse_example(
    Graph& graph,
    Output serialized,
    Output names,  // optional
    const std::vector<FeatureSpec>& features,
    bool is_single,
    const std::string& name = "");

}  // namespace runhooks
