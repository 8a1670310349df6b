#include "data/example_parser.h"

#include <algorithm>

#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

FeatureView::Kind kind_of(DType dtype) {
  if (dtype == DType::kFloat32) return FeatureView::Kind::kFloat;
  if (dtype == DType::kInt64) return FeatureView::Kind::kInt64;
  return FeatureView::Kind::kBytes;
}

}  // namespace

int64_t ParsedFeature::row_size() const {
  if (!has_variable_length()) return shape.num_elements();
  return element_shape(shape).num_elements();
}

int64_t ParsedFeature::num_values() const {
  return static_cast<int64_t>(std::max({floats.size(), ints.size(), strings.size()}));
}

int64_t ParsedFeature::max_count() const {
  return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
}

void ParsedFeature::clear() {
  floats.clear();
  ints.clear();
  strings.clear();
  counts.clear();
}

void ExampleParser::begin(std::vector<ParsedFeature> features) {
  features_ = std::move(features);
  num_examples_ = 0;
  dictionaries_.resize(features_.size());
  for (ParsedFeature& feature : features_) {
    feature.clear();
    if (feature.kind != ParsedFeature::Kind::kDense) continue;
    const int64_t num_defaults = feature.default_value.num_elements(), row = feature.row_size();
    if (feature.default_value.dtype() != feature.dtype) {
      invalid_argument("Feature: ", feature.key, ": its default is of type ",
                       dtype_name(feature.default_value.dtype()), ", not ",
                       dtype_name(feature.dtype), ".");
    }
    if (feature.has_variable_length()) {
      if (row <= 0) {
        invalid_argument("Feature: ", feature.key, ": rows of shape ", feature.shape,
                         " contain no values.");
      }
      if (num_defaults > 1) {
        invalid_argument("Feature: ", feature.key, ": the default must be one padding value, not ",
                         num_defaults, ".");
      }
    } else if (num_defaults > 0 && num_defaults != row) {
      invalid_argument("Feature: ", feature.key, ": its default has ", num_defaults,
                       " values, but its shape is ", feature.shape, ".");
    }
  }
}

void ExampleParser::add(std::string_view bytes, const std::string& name) {
  error_context_.assign("Name: ").append(name.empty() ? "<unknown>" : name).append(", Index: ");
  error_context_ += std::to_string(num_examples_);
  read_example(bytes, error_context_, example_);
  for (ParsedFeature& feature : features_) append_values(feature, example_, error_context_);
  ++num_examples_;
}

void ExampleParser::check_count(const ParsedFeature& feature,
                                int64_t count,
                                const std::string& where) const {
  const int64_t row = feature.row_size();
  if (feature.has_variable_length()) {
    if (count % row == 0) return;
    invalid_argument(where, ", Key: ", feature.key, ".  Number of ", dtype_name(feature.dtype),
                     " values is not a multiple of stride length. Saw ", count,
                     " values but output shape is: ", feature.shape, ".");
  }
  if (count == row) return;
  invalid_argument(where, ", Key: ", feature.key, ".  Number of ", dtype_name(feature.dtype),
                   " values != expected.  Values size: ", count,
                   " but output shape: ", feature.shape, ".");
}

void ExampleParser::append_values(ParsedFeature& feature,
                                  const ExampleView& example,
                                  const std::string& where) {
  const FeatureView* found = find_feature(example, feature.key);
  if (!found) {
    if (feature.kind == ParsedFeature::Kind::kDense && !feature.has_variable_length()) {
      append_default(feature, where);
    } else {
      feature.counts.push_back(0);
    }
    return;
  }
  if (found->kind != kind_of(feature.dtype)) {
    invalid_argument(where, ", Key: ", feature.key,
                     ".  Data types don't match. Expected type: ", dtype_name(feature.dtype),
                     ", but the example has ", feature_kind_name(found->kind), " values.");
  }
  const int64_t before = feature.num_values();
  if (feature.dtype == DType::kFloat32) read_float_list(*found, where, feature.floats);
  if (feature.dtype == DType::kInt64) read_int64_list(*found, where, feature.ints);
  if (feature.dtype == DType::kString) read_bytes_list(*found, where, feature.strings);
  const int64_t count = feature.num_values() - before;
  if (feature.kind == ParsedFeature::Kind::kDense) check_count(feature, count, where);
  feature.counts.push_back(count);
}

void ExampleParser::append_default(ParsedFeature& feature, const std::string& where) {
  const Tensor& x = feature.default_value;
  const int64_t n = x.num_elements();
  if (n != feature.row_size()) {
    invalid_argument(where, ", Feature: ", feature.key, " (data type: ", dtype_name(feature.dtype),
                     ") is required but could not be found.");
  }
  for (int64_t i = 0; i < n; ++i) {
    if (feature.dtype == DType::kFloat32) feature.floats.push_back(x.data<float>()[i]);
    if (feature.dtype == DType::kInt64) feature.ints.push_back(x.data<int64_t>()[i]);
    if (feature.dtype == DType::kString) feature.strings.push_back(x.string_at(i));
  }
  feature.counts.push_back(n);
}

Shape ExampleParser::values_shape(size_t i, bool is_single) const {
  const ParsedFeature& feature = features_[i];
  if (feature.kind != ParsedFeature::Kind::kDense) return Shape{feature.num_values()};
  Shape shape;
  if (!is_single) shape.append(num_examples_);
  for (int d = 0; d < feature.shape.rank(); ++d) {
    const bool is_length = d == 0 && feature.has_variable_length();
    shape.append(is_length ? feature.max_count() / feature.row_size() : feature.shape.dim(d));
  }
  return shape;
}

template <typename T>
void ExampleParser::write_padded(const ParsedFeature& feature,
                                 const std::vector<T>& values,
                                 T filler,
                                 T* out) {
  const bool is_padded =
      feature.kind == ParsedFeature::Kind::kDense && feature.has_variable_length();
  if (!is_padded) {
    std::copy(values.begin(), values.end(), out);
    return;
  }
  const int64_t width = feature.max_count();
  auto from = values.begin();
  for (const int64_t count : feature.counts) {
    out = std::copy(from, from + count, out);
    out = std::fill_n(out, width - count, filler);
    from += count;
  }
}

void ExampleParser::write_values(size_t i, Tensor& out) {
  const ParsedFeature& feature = features_[i];
  const bool has_filler =
      feature.default_value.is_valid() && feature.default_value.num_elements() > 0;
  if (feature.dtype == DType::kFloat32) {
    write_padded(feature, feature.floats, has_filler ? *feature.default_value.data<float>() : 0.0f,
                 out.data<float>());
  } else if (feature.dtype == DType::kInt64) {
    write_padded(feature, feature.ints, has_filler ? *feature.default_value.data<int64_t>() : 0,
                 out.data<int64_t>());
  } else {
    const auto& dictionary = dictionaries_[i].for_elements(out.num_elements());
    out.set_dictionary(dictionary);
    std::vector<int32_t> codes;
    codes.reserve(feature.strings.size());
    for (const std::string_view text : feature.strings) codes.push_back(dictionary->code(text));
    const int32_t filler = dictionary->code(has_filler ? feature.default_value.string_at(0) : "");
    write_padded(feature, codes, filler, out.data<int32_t>());
  }
}

}  // namespace runhooks
