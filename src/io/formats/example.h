// Tf.Example, features by name in a serialized message: a reader and a writer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/proto/wire.h"

namespace runhooks {

// One feature of a serialized example: a list whose items are read when they are asked for. It
// points into the bytes that it was read from.
struct FeatureView {
  // kNone: the feature is there, but of no kind, which is as good as missing.
  enum class Kind { kNone, kBytes, kFloat, kInt64 };
  Kind kind = Kind::kNone;
  std::string_view list;
};
// "bytes", "float", "int64", "none": in TensorFlow's words.
const char* feature_kind_name(FeatureView::Kind kind);

using ExampleView = std::vector<std::pair<std::string_view, FeatureView>>;

// The features in the order of the message, in the place of what `example` had; of two with one name
// the later one counts. Damaged bytes are kDataLoss and name `where`.
void read_example(std::string_view bytes, std::string_view where, ExampleView& example);
// NULL where there is no such feature, or one of no kind.
const FeatureView* find_feature(const ExampleView& example, std::string_view name);

// The items of a list; the feature must be of this kind.
void read_bytes_list(const FeatureView& feature,
                     std::string_view where,
                     std::vector<std::string_view>& out);
void read_float_list(const FeatureView& feature, std::string_view where, std::vector<float>& out);
void read_int64_list(const FeatureView& feature, std::string_view where, std::vector<int64_t>& out);

// Writes an example feature by feature.
class ExampleWriter {
 public:
  void add_bytes(const std::string& name, const std::vector<std::string_view>& values);
  void add_floats(const std::string& name, const std::vector<float>& values);
  void add_ints(const std::string& name, const std::vector<int64_t>& values);
  // The bytes, after which it is empty.
  std::string take();

 private:
  void add(const std::string& name, FeatureView::Kind kind, const WireWriter& list);
  WireWriter features_;
};

}  // namespace runhooks
