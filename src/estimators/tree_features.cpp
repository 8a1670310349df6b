#include "estimators/tree_features.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "columns/bucketed_column.h"

namespace runhooks {

namespace {

const DenseColumn& dense_column(const FeatureColumn& column) {
  const auto* dense = dynamic_cast<const DenseColumn*>(&column);
  if (dense) return *dense;
  throw Error(Code::kInvalidArgument,
              str_cat("Trees cannot split column '", column.name(), "', which is categorical."),
              {"Wrap it: column_indicator() asks for each word."});
}

std::string source_of(const FeatureColumn& column) {
  const std::vector<std::string> keys = column.feature_keys();
  return keys.size() == 1 ? keys[0] : column.name();
}

std::string element_name_of(const BucketedColumn* column, int64_t element, int64_t elements) {
  if (column && column->is_of_words()) return column->element_name(element);
  return elements == 1 ? "" : str_cat(element + 1);
}

Output in_columns(Graph& graph, Output x, int64_t elements) {
  const Tensor shape = Tensor::vector<int64_t>({-1, elements});
  return graph.op("Reshape", {x, graph.constant(shape, "shape")});
}

void unpack(Graph& graph, Output x, int64_t elements, std::vector<Output>* into) {
  Operation* parts = graph.op("Unpack", {x}).attr("num", elements).attr("axis", 1);
  for (int i = 0; i < parts->num_outputs(); ++i) into->push_back(parts->output(i));
}

}  // namespace

// As short as it can be and still the same float.
static std::string shortest(float x) {
  char text[32];
  for (int digits = 6; digits <= 9; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(x));
    if (std::strtof(text, nullptr) == x) break;
  }
  return text;
}

std::string TreeFeature::question(int32_t threshold) const {
  if (group == Group::kWords) return str_cat(source, " is not ", element_name);
  const std::string what =
      element_name.empty() ? source : str_cat(source, "[", element_name, "]");
  if (threshold < 0) return str_cat(what, " is below all");
  if (static_cast<size_t>(threshold) >= edges.size()) return str_cat(what, " is any number");
  const char* compared = group == Group::kNumbers ? " <= " : " < ";
  return str_cat(what, compared, shortest(edges[static_cast<size_t>(threshold)]));
}

int64_t quantile_buckets(double epsilon) {
  return std::max<int64_t>(1, static_cast<int64_t>(1 / epsilon));
}

std::vector<TreeFeature> tree_features(const std::vector<ColumnPtr>& columns, double epsilon) {
  std::vector<TreeFeature> all;
  int64_t streams = 0;
  for (const ColumnPtr& column : columns) {
    TreeFeature feature;
    int64_t elements = 0;
    const auto* bucketed = dynamic_cast<const BucketedColumn*>(column.get());
    if (bucketed) {
      feature.edges = bucketed->edges();
      feature.source = bucketed->is_of_words() ? bucketed->feature_name() : source_of(*column);
      feature.name = bucketed->feature_name();
      feature.buckets = bucketed->buckets();
      feature.group = bucketed->is_of_words() ? TreeFeature::Group::kWords
                                              : TreeFeature::Group::kBucketized;
      elements = bucketed->elements();
    } else {
      feature.name = feature.source = column->name();
      feature.buckets = quantile_buckets(epsilon);
      feature.group = TreeFeature::Group::kNumbers;
      elements = dense_column(*column).num_elements();
    }
    for (feature.element = 0; feature.element < elements; ++feature.element) {
      if (feature.group == TreeFeature::Group::kNumbers) feature.stream = streams++;
      feature.element_name = element_name_of(bucketed, feature.element, elements);
      all.push_back(feature);
    }
  }
  if (all.empty()) invalid_argument("Trees need at least one feature column.");
  return all;
}

TreeInput tree_input(Graph& graph,
                     const Features& features,
                     const std::vector<ColumnPtr>& columns,
                     const std::vector<Output>& boundaries) {
  TransformationCache cache(graph, features);
  TreeInput input;
  for (const ColumnPtr& column : columns) {
    const NameScope scope(graph, scope_of(*column));
    if (const auto* bucketed = dynamic_cast<const BucketedColumn*>(column.get())) {
      unpack(graph, bucketed->bucket_tensor(cache), bucketed->elements(), &input.buckets);
      continue;
    }
    const DenseColumn& dense = dense_column(*column);
    ColumnVariables variables;
    const Output values = dense.dense_tensor(cache, variables);
    if (!variables.made.empty()) {
      invalid_argument("Trees cannot split column '", column->name(),
                       "', which has variables that are trained by gradients.");
    }
    const size_t first = input.numbers.size();
    const int64_t elements = dense.num_elements();
    unpack(graph, in_columns(graph, values, elements), elements, &input.numbers);
    std::vector<Output> inputs(input.numbers.begin() + static_cast<int64_t>(first),
                               input.numbers.end());
    for (size_t i = first; i < input.numbers.size(); ++i) inputs.push_back(boundaries.at(i));
    Operation* buckets = graph.op("BoostedTreesBucketize", inputs).attr("num_features", elements);
    for (int i = 0; i < buckets->num_outputs(); ++i) input.buckets.push_back(buckets->output(i));
  }
  return input;
}

}  // namespace runhooks
