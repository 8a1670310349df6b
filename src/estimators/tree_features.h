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
  // A summary of quantiles may have one or two values more than were asked for.
  int64_t most_buckets() const { return buckets + (group == Group::kNumbers ? 2 : 0); }
  enum class Group { kWords, kNumbers, kBucketized };
  Group group = Group::kWords;
  int64_t stream = -1;  // of a number: its quantiles
  // Where a number goes that is missing. A column that may miss some has a feature of each kind, so
  // that questions of buckets alone, as TensorFlow's are, send what is missing to either side.
  enum class Missing { kIsLeast, kIsMost };
  Missing missing = Missing::kIsLeast;
  bool has_missing = false;  // whether it has such a pair
  std::string source;         // what is asked about: "age", "education"
  std::string element_name;   // the word, or "" where there is one element
  std::vector<float> edges;   // of buckets; those of numbers are in a checkpoint
  // What sends an example to the left: "age < 25", "education is not HS-grad".
  std::string question(int32_t threshold) const;
  // The number that it compares with; NaN where there is none.
  double threshold(int32_t bucket) const;
  // Whether what is missing is among the buckets up to this one.
  bool sends_missing_left(int32_t threshold) const;

 private:
  bool asks_what_is_missing(int32_t threshold) const;
};
// Of columns in TensorFlow's order, by name; `missing` are the names of those of numbers some of which
// are missing. Throws where a column cannot be split.
std::vector<TreeFeature> tree_features(const std::vector<ColumnPtr>& columns,
                                       double epsilon,
                                       const std::vector<std::string>& missing);
// How many buckets quantiles make at most.
int64_t quantile_buckets(double epsilon);

// What a trained model is made of.
struct TreeModelView {
  TreeEnsemble ensemble;
  std::vector<TreeFeature> features;  // with the edges of all of them
  // The names of columns, without doubles, in their order, and the place of each feature's.
  std::vector<std::string> columns() const;
  std::vector<int64_t> column_of_feature() const;
};
enum class Importance { kGain, kCount };
// Of each of columns(): the gain of all splits by it, or how many there are.
std::vector<double> importances(const TreeModelView& trees, Importance by);
std::shared_ptr<const TreeModelView> read_trees(std::vector<TreeFeature> features,
                                              const std::string& ensemble_key,
                                              const std::string& boundaries_prefix,
                                              const std::string& checkpoint);

// The features of a batch.
struct TreeInput {
  std::vector<Output> buckets;  // int32 [batch], of each feature
  std::vector<Output> numbers;  // float32 [batch], of each stream
  // What the buckets of a feature are made of where it is a number: float32 [batch], and its edges.
  struct Asked {
    Output x, edges;
  };
  std::vector<Asked> asked;  // of each feature
  Output quantiles, boundaries_ready;  // missing where there are no numbers
};
// `boundaries` are those of each stream.
TreeInput tree_input(Graph& graph,
                     const Features& features,
                     const std::vector<ColumnPtr>& columns,
                     const std::vector<TreeFeature>& split,
                     const std::vector<Output>& boundaries);
// The numbers alone, in a graph that may be a function: no other step takes them from the features.
std::vector<Output> tree_numbers(Graph& graph,
                                 const Features& features,
                                 const std::vector<ColumnPtr>& columns,
                                 const std::vector<TreeFeature>& split);

}  // namespace runhooks
