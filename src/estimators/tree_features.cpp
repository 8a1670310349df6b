#include "estimators/tree_features.h"

#include <algorithm>

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

Output in_columns(Graph& graph, Output x, int64_t elements) {
  const Tensor shape = Tensor::vector<int64_t>({-1, elements});
  return graph.op("Reshape", {x, graph.constant(shape, "shape")});
}

void unpack(Graph& graph, Output x, int64_t elements, std::vector<Output>* into) {
  Operation* parts = graph.op("Unpack", {x}).attr("num", elements).attr("axis", 1);
  for (int i = 0; i < parts->num_outputs(); ++i) into->push_back(parts->output(i));
}

}  // namespace

int64_t quantile_buckets(double epsilon) {
  return std::max<int64_t>(1, static_cast<int64_t>(1 / epsilon));
}

std::vector<TreeFeature> tree_features(const std::vector<ColumnPtr>& columns, double epsilon) {
  std::vector<TreeFeature> all;
  int64_t streams = 0;
  for (const ColumnPtr& column : columns) {
    TreeFeature feature;
    int64_t elements = 0;
    if (const auto* bucketed = dynamic_cast<const BucketedColumn*>(column.get())) {
      feature.name = bucketed->feature_name();
      feature.buckets = bucketed->buckets();
      feature.group = bucketed->is_of_words() ? TreeFeature::Group::kWords
                                              : TreeFeature::Group::kBucketized;
      elements = bucketed->elements();
    } else {
      feature.name = column->name();
      feature.buckets = quantile_buckets(epsilon);
      feature.group = TreeFeature::Group::kNumbers;
      elements = dense_column(*column).num_elements();
    }
    for (feature.element = 0; feature.element < elements; ++feature.element) {
      if (feature.group == TreeFeature::Group::kNumbers) feature.stream = streams++;
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
