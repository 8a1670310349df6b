// ExampleParser: converts serialized tf.train.Example records to feature tensors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/formats/example.h"
#include "tensor/output_dictionary.h"
#include "tensor/tensor.h"

namespace runhooks {

// A requested feature and its parsed values.
struct ParsedFeature {
  // kSparse and kRagged: each example has any number of values. kDense: each example has as many
  // values as `shape`. If the first dimension of `shape` is unknown, the number of rows may vary.
  enum class Kind { kSparse, kDense, kRagged };
  Kind kind = Kind::kSparse;
  std::string key;
  DType dtype = DType::kInvalid;  // float32, int64 or string
  Shape shape;
  // The default of a dense feature; an empty tensor means that the feature is required. If the
  // first dimension of `shape` is unknown, this is the value of padding rows.
  Tensor default_value;

  bool has_variable_length() const { return shape.rank() > 0 && shape.dim(0) < 0; }
  // The number of values per row.
  int64_t row_size() const;

  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::vector<int64_t> counts;  // number of values in each example
  int64_t num_values() const;
  int64_t max_count() const;
  void clear();
};

class ExampleParser {
 public:
  // Validates the requested features before any example is read.
  void begin(std::vector<ParsedFeature> features);
  const std::vector<ParsedFeature>& features() const { return features_; }
  // Parses the next example. A non-empty `name` identifies it in errors.
  void add(std::string_view bytes, const std::string& name);
  int64_t num_examples() const { return num_examples_; }

  // Writes the values of feature i into `out`, whose shape is values_shape(i, ...). Dense features
  // of variable length are padded to the longest example.
  void write_values(size_t i, Tensor& out);
  // Returns the shape of the values of feature i. A dense feature has the shape [examples, ...]; if
  // `is_single` is true, the dimension `examples` is omitted.
  Shape values_shape(size_t i, bool is_single) const;

 private:
  void append_values(ParsedFeature& feature, const ExampleView& example, const std::string& where);
  void append_default(ParsedFeature& feature, const std::string& where);
  void check_count(const ParsedFeature& feature, int64_t count, const std::string& where) const;
  template <typename T>
  void write_padded(const ParsedFeature& feature, const std::vector<T>& values, T filler, T* out);

  std::vector<ParsedFeature> features_;
  std::vector<OutputDictionary> dictionaries_;
  ExampleView example_;        // the current example
  std::string error_context_;  // name and index of the current example, for messages
  int64_t num_examples_ = 0;
};

}  // namespace runhooks
