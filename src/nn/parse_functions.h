// What lives here: specifications of features in serialized examples, and parse_example(), which adds the ops that read them.
// Who may use it: estimators, the bindings.
// What it must not know: how examples are read, R.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// tf.FixedLenFeature, FixedLenSequenceFeature, VarLenFeature, SparseFeature.
struct FeatureSpec {
  enum class Kind { kFixedLen, kFixedLenSequence, kVarLen, kSparse };
  Kind kind = Kind::kFixedLen;
  std::string key;
  DType dtype = DType::kInvalid;
  Shape shape;
  // Of a fixed one: of its shape, or one value for all of it; not valid where there is none. Of a
  // sequence: what fills it up.
  Tensor default_value;
  // Of a sparse one.
  std::string index_key, value_key;
  int64_t size = 0;
  bool already_sorted = false;
};

// A tensor, or TensorFlow's triple.
struct ParsedTensor {
  Output values, indices, dense_shape;
};

// The features of serialized examples by name: of a vector of them, or of a scalar where
// `is_single`. Throws where the specifications do not go together.
std::vector<std::pair<std::string, ParsedTensor>> parse_example(
    Graph& graph,
    Output serialized,
    Output names,  // may be missing
    const std::vector<FeatureSpec>& features,
    bool is_single,
    const std::string& name = "");

}  // namespace runhooks
