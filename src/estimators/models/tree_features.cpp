#include "estimators/models/tree_features.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/number_text.h"
#include "columns/bucketed_column.h"

namespace runhooks {

namespace {

const DenseColumn& dense_column(const FeatureColumn& column) {
  const auto* dense = dynamic_cast<const DenseColumn*>(&column);
  if (dense) return *dense;
  throw Error(Code::kInvalidArgument,
              str_cat("Trees cannot split column '", column.name(), "', which is categorical."),
              {"Wrap it in column_indicator(), which allows a split on each category."});
}

std::string source_of(const FeatureColumn& column) {
  const std::vector<std::string> keys = column.feature_keys();
  return keys.size() == 1 ? keys[0] : column.name();
}

std::string element_name_of(const BucketedColumn* column, int64_t element, int64_t elements) {
  if (column && column->is_multi_hot()) return column->element_name(element);
  return elements == 1 ? "" : str_cat(element + 1);
}

Output reshaped(Graph& graph, const Output& x, const std::vector<int64_t>& shape) {
  return graph.op("Reshape", {x, graph.constant(Tensor::vector<int64_t>(shape), "shape")});
}

std::vector<Output> unpack(Graph& graph, Output x, int64_t elements) {
  Operation* unpacked = graph.op("Unpack", {x}).attr("num", elements).attr("axis", 1);
  return unpacked->outputs();
}

// The largest finite float replaces missing values, negated or not. They then get a separate bucket
// below or above all numbers.
constexpr float kBeyondNumbers = std::numeric_limits<float>::max();

Output replace_missing(Graph& graph, Output x, float value) {
  const Output replacement = graph.op(
      "AddV2", {graph.op("ZerosLike", {x}), graph.scalar(DType::kFloat32, value, "missing")});
  return graph.op("Select", {graph.op("IsNan", {x}), replacement, x});
}

std::vector<Output> elements_of(const DenseColumn& column, TransformationCache& cache) {
  ColumnVariables variables;
  const Output values = column.dense_tensor(cache, variables);
  if (!variables.made.empty()) {
    invalid_argument("Trees cannot split column '", column.name(),
                     "', which has variables that are trained by gradients.");
  }
  const int64_t count = column.num_elements();
  if (count == 1) return {reshaped(cache.graph(), values, {-1})};
  return unpack(cache.graph(), reshaped(cache.graph(), values, {-1, count}), count);
}

// Moves missing values to the lowest bucket, as in quantile streams.
Output with_missing_lowest(Graph& graph, const Output& x, bool has_missing) {
  return has_missing ? replace_missing(graph, x, -kBeyondNumbers) : x;
}

void add_numbers(Graph& graph,
                 const std::vector<Output>& elements,
                 const std::vector<Output>& boundaries,
                 bool has_missing,
                 TreeInput* input) {
  const size_t first = input->numbers.size();
  std::vector<Output> values, edges;
  for (size_t i = 0; i < elements.size(); ++i) {
    const Output lowest = with_missing_lowest(graph, elements[i], has_missing);
    input->numbers.push_back(lowest);
    values.push_back(lowest);
    edges.push_back(boundaries.at(first + i));
    if (!has_missing) continue;
    values.push_back(replace_missing(graph, elements[i], kBeyondNumbers));
    edges.push_back(boundaries.at(first + i));
  }
  std::vector<Output> inputs = values;
  inputs.insert(inputs.end(), edges.begin(), edges.end());
  Operation* buckets = graph.op("BoostedTreesBucketize", inputs)
                           .attr("num_features", static_cast<int64_t>(values.size()));
  for (int i = 0; i < buckets->num_outputs(); ++i) {
    input->buckets.push_back(buckets->output(i));
    input->sources.push_back({values[static_cast<size_t>(i)], edges[static_cast<size_t>(i)]});
  }
}

void check_missing(const std::vector<std::string>& missing,
                   const std::vector<TreeFeature>& features) {
  for (const std::string& name : missing) {
    const bool is_numeric_column = std::any_of(
        features.begin(), features.end(),
        [&](const TreeFeature& feature) { return feature.has_missing && feature.name == name; });
    if (is_numeric_column) continue;
    throw Error(Code::kInvalidArgument,
                str_cat("`missing_features` contains '", name,
                        "', but there is no numeric column with this name."),
                {"Numeric columns are those that are split by quantiles, such as column_numeric(). "
                 "Categorical columns need no entry."});
  }
}

}  // namespace

// Returns the shortest text that reads back as the same float.
static std::string shortest_text(float x) {
  std::string text;
  for (int digits = 6; digits <= 9; ++digits) {
    text = format_text("%.*g", digits, static_cast<double>(x));
    if (read_float(text.c_str(), nullptr) == x) break;
  }
  return text;
}

std::string TreeFeature::left_condition(int32_t threshold) const {
  if (group == Group::kMultiHot && threshold != 0) return str_cat(source, " is any level");
  if (group == Group::kMultiHot) return str_cat(source, " is not ", element_name);
  const std::string value = element_name.empty() ? source : str_cat(source, "[", element_name, "]");
  if (threshold < 0) return str_cat(value, " is below all");
  if (static_cast<size_t>(threshold) >= edges.size()) return str_cat(value, " is any number");
  if (tests_missing(threshold)) return str_cat(value, " is missing");
  const float edge = edges[static_cast<size_t>(threshold)];
  const char* comparison = group == Group::kNumbers ? " <= " : " < ";
  return str_cat(value, comparison, shortest_text(edge));
}

bool TreeFeature::tests_missing(int32_t threshold) const {
  return has_missing && threshold == 0 && !edges.empty() && edges[0] == -kBeyondNumbers;
}

double TreeFeature::threshold(int32_t bucket) const {
  const bool has_edge = group != Group::kMultiHot && bucket >= 0 &&
                        static_cast<size_t>(bucket) < edges.size() && !tests_missing(bucket);
  if (!has_edge) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(edges[static_cast<size_t>(bucket)]);
}

// Whether a split at this threshold sends missing values left. Missing categories are in bucket 0;
// bucketized columns put NaN into the last bucket.
bool TreeFeature::sends_missing_left(int32_t threshold) const {
  if (group == Group::kMultiHot) return true;
  if (group == Group::kNumbers && missing == Missing::kIsLowest) return true;
  const size_t last =
      group == Group::kNumbers ? std::max<size_t>(edges.size(), 1) - 1 : edges.size();
  return threshold >= 0 && static_cast<size_t>(threshold) >= last;
}

int64_t quantile_buckets(double epsilon) {
  return std::max<int64_t>(1, static_cast<int64_t>(1 / epsilon));
}

std::vector<TreeFeature> tree_features(const std::vector<ColumnPtr>& columns,
                                       double epsilon,
                                       const std::vector<std::string>& missing) {
  std::vector<TreeFeature> features;
  int64_t streams = 0;
  for (const ColumnPtr& column : columns) {
    TreeFeature feature;
    int64_t elements = 0;
    const auto* bucketed = dynamic_cast<const BucketedColumn*>(column.get());
    if (bucketed) {
      feature.edges = bucketed->edges();
      feature.source = bucketed->is_multi_hot() ? bucketed->feature_name() : source_of(*column);
      feature.name = bucketed->feature_name();
      feature.buckets = bucketed->buckets();
      feature.group = bucketed->is_multi_hot() ? TreeFeature::Group::kMultiHot
                                               : TreeFeature::Group::kBucketized;
      elements = bucketed->elements();
    } else {
      feature.name = feature.source = column->name();
      feature.buckets = quantile_buckets(epsilon);
      feature.group = TreeFeature::Group::kNumbers;
      elements = dense_column(*column).num_elements();
      feature.has_missing =
          std::find(missing.begin(), missing.end(), feature.name) != missing.end();
    }
    for (feature.element = 0; feature.element < elements; ++feature.element) {
      if (feature.group == TreeFeature::Group::kNumbers) feature.stream = streams++;
      feature.element_name = element_name_of(bucketed, feature.element, elements);
      feature.missing = TreeFeature::Missing::kIsLowest;
      features.push_back(feature);
      if (!feature.has_missing) continue;
      feature.missing = TreeFeature::Missing::kIsHighest;
      features.push_back(feature);
    }
  }
  check_missing(missing, features);
  if (features.empty()) invalid_argument("Trees need at least one feature column.");
  return features;
}

TreeInput tree_input(Graph& graph,
                     const Features& features,
                     const std::vector<ColumnPtr>& columns,
                     const std::vector<TreeFeature>& split_features,
                     const std::vector<Output>& boundaries) {
  TransformationCache cache(graph, features);
  TreeInput input;
  for (const ColumnPtr& column : columns) {
    const NameScope scope(graph, scope_of(*column));
    if (const auto* bucketed = dynamic_cast<const BucketedColumn*>(column.get())) {
      for (const Output& x : unpack(graph, bucketed->bucket_tensor(cache), bucketed->elements()))
        input.buckets.push_back(x);
      input.sources.resize(input.buckets.size());
      continue;
    }
    const bool has_missing = split_features.at(input.buckets.size()).has_missing;
    add_numbers(graph, elements_of(dense_column(*column), cache), boundaries, has_missing, &input);
  }
  return input;
}

std::vector<Output> tree_numbers(Graph& graph,
                                 const Features& features,
                                 const std::vector<ColumnPtr>& columns,
                                 const std::vector<TreeFeature>& split_features) {
  TransformationCache cache(graph, features);
  std::vector<Output> numbers;
  size_t next = 0;
  for (const ColumnPtr& column : columns) {
    const NameScope scope(graph, scope_of(*column));
    if (const auto* bucketed = dynamic_cast<const BucketedColumn*>(column.get())) {
      next += static_cast<size_t>(bucketed->elements());
      continue;
    }
    const bool has_missing = split_features.at(next).has_missing;
    for (const Output& element : elements_of(dense_column(*column), cache)) {
      numbers.push_back(with_missing_lowest(graph, element, has_missing));
      next += has_missing ? 2 : 1;
    }
  }
  return numbers;
}

}  // namespace runhooks
