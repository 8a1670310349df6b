// Converts feature columns to the bucketized features of tree models.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "columns/feature_column.h"
#include "trees/ensemble.h"

namespace runhooks {

// One bucketized feature of a tree model. A column has one for each element: a category or a
// number.
struct TreeFeature {
  std::string name;     // name of the column, shown in importances: "age_bucketized", "education"
  int64_t element = 0;  // index within the column: a category, or one of several numbers
  int64_t buckets = 0;
  bool has_weights = false;
  // Quantile summaries may return up to two boundaries more than requested. With weights, they keep
  // all values of large weight and some others: at most three times the requested number.
  int64_t max_buckets() const {
    return group == Group::kNumbers ? buckets * (has_weights ? 3 : 1) + 2 : buckets;
  }
  enum class Group { kMultiHot, kNumbers, kBucketized };
  Group group = Group::kMultiHot;
  int64_t stream = -1;  // index of the quantile stream; numbers only
  // The bucket of missing numbers: the lowest or the highest. A column with missing values has a
  // pair of features, one of each kind. Splits can then send missing values to either side in
  // TensorFlow's format.
  enum class Missing { kIsLowest, kIsHighest };
  Missing missing = Missing::kIsLowest;
  bool has_missing = false;  // whether the feature belongs to a pair
  std::string source;        // name in left_condition(): "age", "education"
  std::string element_name;  // the category, or "" if there is one element
  std::vector<float> edges;  // edges of the buckets; for kNumbers, read from a checkpoint
  // Returns the condition of the left branch as text: "age < 25", "education is not HS-grad".
  std::string left_condition(int32_t threshold) const;
  // Returns the upper edge of the bucket; NaN if the feature is not a number.
  double threshold(int32_t bucket) const;
  bool sends_missing_left(int32_t threshold) const;

 private:
  bool tests_missing(int32_t threshold) const;
};
// Returns the features of the columns, sorted by name as in TensorFlow. `missing` names the numeric
// columns with missing values. Throws if trees cannot split by a column.
std::vector<TreeFeature> tree_features(const std::vector<ColumnPtr>& columns,
                                       double epsilon,
                                       const std::vector<std::string>& missing);
int64_t quantile_buckets(double epsilon);

// A trained ensemble with its features, for inspection.
struct TreeModelView {
  TreeEnsemble ensemble;
  std::vector<TreeFeature> features;  // with their bucket edges
  // Return the distinct column names in order, and the index in them of each feature's column.
  std::vector<std::string> columns() const;
  std::vector<int64_t> column_of_feature() const;
};
enum class Importance { kGain, kCount };
// Returns the importance of each column of `trees`: the total gain of its splits, or their number.
std::vector<double> importances(const TreeModelView& trees, Importance importance);
std::shared_ptr<const TreeModelView> read_trees(std::vector<TreeFeature> features,
                                                const std::string& ensemble_key,
                                                const std::string& boundaries_prefix,
                                                const std::string& checkpoint);

// The tensors of a batch of features.
struct TreeInput {
  std::vector<Output> buckets;  // int32 [batch], per feature
  std::vector<Output> numbers;  // float32 [batch], per stream
  // The values and edges that a feature's buckets come from; numbers only. `x` is float32 [batch].
  struct Source {
    Output x, edges;
  };
  std::vector<Source> sources;         // per feature
  Output quantiles, boundaries_ready;  // empty if the model has no numeric features
};
TreeInput tree_input(Graph& graph,
                     const Features& features,
                     const std::vector<ColumnPtr>& columns,
                     const std::vector<TreeFeature>& split_features,
                     const std::vector<Output>& boundaries);
// Returns only TreeInput::numbers, for the graph of a function.
std::vector<Output> tree_numbers(Graph& graph,
                                 const Features& features,
                                 const std::vector<ColumnPtr>& columns,
                                 const std::vector<TreeFeature>& split_features);

}  // namespace runhooks
