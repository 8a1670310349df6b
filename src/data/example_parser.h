// What lives here: ExampleParser, which makes tensors of features out of serialized examples.
// Who may use it: the ops that parse examples.
// What it must not know: ops' inputs and outputs, files, R.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/formats/example.h"
#include "tensor/output_dictionary.h"
#include "tensor/tensor.h"

namespace runhooks {

// One feature that is asked for, and what has been found of it.
struct ParsedFeature {
  // kDense: as many values in each example as `shape` has, where its first dimension is unknown
  // any number of rows of the others.
  enum class Kind { kSparse, kDense, kRagged };
  Kind kind = Kind::kSparse;
  std::string key;
  DType dtype = DType::kInvalid;  // float32, int64 or string
  Shape shape;
  // Of a dense feature: its value where an example has none; without elements it must have one.
  // With an unknown first dimension, the one value that fills rows up.
  Tensor otherwise;

  bool has_any_length() const { return shape.rank() > 0 && shape.dim(0) < 0; }
  // The number of values of a row.
  int64_t row_size() const;

  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> texts;
  std::vector<int64_t> counts;  // of values, by example
  int64_t num_values() const;
  int64_t longest() const;
  void clear();
};

class ExampleParser {
 public:
  // Throws where a feature cannot be parsed as it is asked for, before any example is read.
  void begin(std::vector<ParsedFeature> features);
  const std::vector<ParsedFeature>& features() const { return features_; }
  // Reads the next example. `name` names it in errors where it is not empty.
  void add(std::string_view bytes, const std::string& name);
  int64_t num_examples() const { return num_examples_; }

  // The values of feature i one after another into `out`, which has as many elements; dense ones
  // are filled up to the longest.
  void write_values(size_t i, Tensor& out);
  // The shape of the values of feature i: [examples, ...] or, of a single example, without that.
  Shape values_shape(size_t i, bool is_single) const;

 private:
  void take(ParsedFeature& feature, const ExampleView& example, const std::string& where);
  void take_default(ParsedFeature& feature, const std::string& where);
  void check_count(const ParsedFeature& feature, int64_t count, const std::string& where) const;
  template <typename T>
  void write_padded(const ParsedFeature& feature, const std::vector<T>& values, T filler, T* out);

  std::vector<ParsedFeature> features_;
  std::vector<OutputDictionary> dictionaries_;
  ExampleView example_;  // the one at hand, and its place in words; kept for the next
  std::string where_;
  int64_t num_examples_ = 0;
};

}  // namespace runhooks
