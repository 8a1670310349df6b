// What lives here: the features of trees: columns as buckets, and the quantiles that make buckets of numbers.
// Who may use it: estimators of trees, those who look into their models.
// What it must not know: how trees grow, heads, R.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "columns/feature_column.h"
#include "trees/ensemble.h"

namespace runhooks {

// Feature i of the trees' splits.
struct TreeFeature {
  std::string name;       // of the column, as importances have it: "age_bucketized", "education"
  int64_t element = 0;    // of the column: which word, or which of several numbers
  int64_t buckets = 0;
  enum class Group { kWords, kNumbers, kBucketized };
  Group group = Group::kWords;
  int64_t stream = -1;  // of a number: its quantiles
  std::string source;         // what is asked about: "age", "education"
  std::string element_name;   // the word, or "" where there is one element
  std::vector<float> edges;   // of buckets; those of numbers are in a checkpoint
  // What sends an example to the left: "age < 25", "education is not HS-grad".
  std::string question(int32_t threshold) const;
};
// Of columns in TensorFlow's order, by name. Throws where one of them cannot be split.
std::vector<TreeFeature> tree_features(const std::vector<ColumnPtr>& columns, double epsilon);
// How many buckets quantiles make at most.
int64_t quantile_buckets(double epsilon);

// What a trained model is made of.
struct TreesInside {
  TreeEnsemble ensemble;
  std::vector<TreeFeature> features;  // with the edges of all of them
  // The names of columns, without doubles, in their order, and the place of each feature's.
  std::vector<std::string> columns() const;
  std::vector<int64_t> column_of_feature() const;
};
enum class Importance { kGain, kCount };
// Of each of columns(): the gain of all splits by it, or how many there are.
std::vector<double> importances(const TreesInside& trees, Importance by);
std::shared_ptr<const TreesInside> read_trees(std::vector<TreeFeature> features,
                                              const std::string& ensemble_key,
                                              const std::string& boundaries_prefix,
                                              const std::string& checkpoint);

// The features of a batch.
struct TreeInput {
  std::vector<Output> buckets;  // int32 [batch], of each feature
  std::vector<Output> numbers;  // float32 [batch], of each stream
  Output quantiles, boundaries_ready;  // missing where there are no numbers
};
// `boundaries` are those of each stream.
TreeInput tree_input(Graph& graph,
                     const Features& features,
                     const std::vector<ColumnPtr>& columns,
                     const std::vector<Output>& boundaries);

}  // namespace runhooks
