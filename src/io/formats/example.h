// Reads and writes tf.Example messages, which are lists of named features.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/proto/wire.h"

namespace runhooks {

// A feature of a serialized example; points into its bytes. The list is parsed on demand.
struct FeatureView {
  // kNone: the feature has no list, which counts as missing.
  enum class Kind { kNone, kBytes, kFloat, kInt64 };
  Kind kind = Kind::kNone;
  std::string_view list;
};
// TensorFlow's names: "bytes", "float", "int64", "none".
const char* feature_kind_name(FeatureView::Kind kind);

using ExampleView = std::vector<std::pair<std::string_view, FeatureView>>;

// Replaces the content of `example` by the features in message order. Throws kDataLoss, naming
// `where`, for damaged bytes.
void read_example(std::string_view bytes, std::string_view where, ExampleView& example);
// Returns the last feature of this name; NULL if it is missing or has no list.
const FeatureView* find_feature(const ExampleView& example, std::string_view name);

void read_bytes_list(const FeatureView& feature,
                     std::string_view where,
                     std::vector<std::string_view>& out);
void read_float_list(const FeatureView& feature, std::string_view where, std::vector<float>& out);
void read_int64_list(const FeatureView& feature, std::string_view where, std::vector<int64_t>& out);

class ExampleWriter {
 public:
  void add_bytes(const std::string& name, const std::vector<std::string_view>& values);
  void add_floats(const std::string& name, const std::vector<float>& values);
  void add_ints(const std::string& name, const std::vector<int64_t>& values);
  // Returns the serialized example and starts a new one.
  std::string take();

 private:
  void add(const std::string& name, FeatureView::Kind kind, const WireWriter& list);
  WireWriter features_;
};

}  // namespace runhooks
