// FeatureColumn: describes how a model uses columns of the data. TransformationCache: computes the
// tensors of feature columns.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/factory.h"
#include "graph/graph.h"
#include "graph/partitioned.h"
#include "graph/variable.h"

namespace runhooks {

// A feature that an input function returns: a dense tensor, or the components of a sparse tensor.
struct Feature {
  Feature() = default;
  Feature(Output tensor) : values(tensor) {}  // NOLINT
  Feature(Output sparse_indices, Output sparse_values, Output shape)
      : values(sparse_values), indices(sparse_indices), dense_shape(shape) {}
  bool is_sparse() const { return static_cast<bool>(indices); }
  Output values;
  Output indices, dense_shape;  // int64 [n, rank] and [rank]; invalid for a dense feature
};
using Features = std::map<std::string, Feature>;

class FeatureColumn;

// How a column reads a feature. Used to feed the feature, and to parse it from serialized examples.
struct FeatureRead {
  FeatureRead(std::string feature, DType type)
      : key(std::move(feature)),
        dtype(type),
        example_dtype(is_integer(type) ? DType::kInt64 : type) {}
  // For a column that reads one number per example and transforms it.
  static FeatureRead one_number(std::string feature) {
    FeatureRead read(std::move(feature), DType::kFloat32);
    read.has_shape = true;
    read.shape = Shape{1};
    read.is_normalized = true;
    return read;
  }
  std::string key;
  DType dtype;  // strings, integers or float32
  // The feature in a serialized example. With a shape, it has a fixed number of values, and
  // `default_value` replaces missing ones. Without a shape, it has any number of values.
  DType example_dtype;
  bool has_shape = false;
  Shape shape;
  Value default_value;

  bool is_weight = false;
  bool is_normalized = false;  // the column transforms the values, for example by normalizer_fn
  bool accepts_unknown_strings = false;  // strings that are not in the vocabulary have a bucket
  int64_t num_ids = 0;         // ids must be less than this number; 0 means no limit
};

// The ids of a categorical column: int64 [batch, k], negative if missing
// (ops/lookup/categorical.h). The weights are optional: float32, of the same shape.
struct IdsAndWeights {
  Output ids, weights;
};

// Computes the tensors of features and columns, each only once.
class TransformationCache {
 public:
  TransformationCache(Graph& graph, const Features& features)
      : graph_(graph), features_(features) {}
  Graph& graph() const { return graph_; }
  // Returns the feature as the input function returns it. Throws for unknown names.
  const Feature& input_feature(const std::string& key) const;
  // Returns the feature as a dense tensor with at least 2 dimensions. Missing elements of a sparse
  // feature are "" or 0.
  Output feature(const std::string& key);
  // Returns a bool tensor with the shape of feature(): true for elements that a sparse feature has.
  // Invalid for dense features.
  Output mask(const std::string& key);
  // Returns the result of column.transform(). Columns with the same equality_key() share it.
  Output transformed(const FeatureColumn& column);

 private:
  Output to_dense(const Feature& feature, Output values, Output filler) const;
  Graph& graph_;
  const Features& features_;
  std::map<std::string, Output> raw_, masks_, transformed_;
};

class FeatureColumn {
 public:
  virtual ~FeatureColumn() = default;
  // Returns TensorFlow's name of the column ("age", "age_bucketized", "a_X_b"). Names of its
  // variables and scopes begin with it.
  virtual std::string name() const = 0;
  virtual std::vector<FeatureRead> reads() const = 0;
  std::vector<std::string> feature_keys() const;
  virtual Output transform(TransformationCache& cache) const = 0;
  // Replaces name() in the names of variables and scopes, for columns that share variables.
  virtual std::string scope_name() const { return name(); }
  // Returns the values that the column has computed for missing arguments, by argument name.
  virtual std::vector<std::pair<std::string, Value>> derived_defaults() const { return {}; }
  // Returns a text that is equal for columns of the same type with equal arguments. Set by
  // make_column().
  const std::string& equality_key() const { return equality_key_; }
  void set_equality_key(std::string equality_key) { equality_key_ = std::move(equality_key); }

 private:
  std::string equality_key_;
};

// Tells where and how a column creates its variables in the current variable scope.
struct ColumnVariables {
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
  bool trainable = true;
  std::vector<VariablePtr> made;  // the variables that the column has created
};

// A column that returns a float32 tensor [batch, ...].
class DenseColumn : public virtual FeatureColumn {
 public:
  // Returns the shape of the column's tensor for one example.
  virtual Shape variable_shape() const = 0;
  virtual Output dense_tensor(TransformationCache& cache, ColumnVariables&) const {
    return cache.transformed(*this);
  }
  int64_t num_elements() const { return variable_shape().num_elements(); }
};

// A column that returns ids from 0 to num_buckets() - 1. transform() returns the ids without
// weights.
class CategoricalColumn : public virtual FeatureColumn {
 public:
  virtual int64_t num_buckets() const = 0;
  virtual IdsAndWeights ids_and_weights(TransformationCache& cache) const {
    return {cache.transformed(*this), Output()};
  }
  // False if a crossed column cannot use the ids: hashed ids would collide more often, and weights
  // would be lost.
  virtual bool can_be_crossed() const { return true; }
};

using ColumnPtr = std::shared_ptr<FeatureColumn>;

// Creates a column. `spec` contains the name of its type ("NumericColumn") and its arguments.
ColumnPtr make_column(const Args& spec);
// Creates the column that is the argument `name` of another column.
ColumnPtr column_argument(const Args& args, const std::string& name);
std::shared_ptr<const CategoricalColumn> categorical_argument(const Args& args,
                                                              const std::string& name);
std::vector<ColumnPtr> make_columns(const ValueList& specs);

// Sorts columns by name, like TensorFlow's models. Throws if two columns have the same name.
std::vector<ColumnPtr> sorted_columns(std::vector<ColumnPtr> columns);

// Returns the scope name of a column. Invalid characters become "_": "log(x)" becomes "log_x_".
std::string scope_of(const FeatureColumn& column);
// Returns the scope names of all columns of a layer, made distinct: "log(x)" and "log[x]" become
// "log_x_" and "log_x__1". Names without invalid characters do not change. The result does not
// depend on the order of the columns.
std::vector<std::string> scopes_of(const std::vector<ColumnPtr>& columns);

// Returns the ids of feature `key`, which `ids_of` computes from its values. `constructor` is the
// name of the column's R function, for messages. `declared_dtype` is its argument `dtype`. In a
// dense feature, "" and -1 are missing values, so `drop_missing` is true; in a sparse feature they
// are not.
Output categorical_ids(TransformationCache& cache,
                       const std::string& key,
                       const std::string& constructor,
                       const std::string& declared_dtype,
                       const std::function<Output(Output values, bool drop_missing)>& ids_of);
// Converts logicals to integers. Returns other values unchanged.
Output integers_or_strings(Graph& graph, Output values);

// Looks up the rows of a table for the ids of each example and combines them: [batch, width].
// `table` holds the partitions of the table. `combiner` is "sum", "mean" or "sqrtn". Rows are
// clipped to the norm `max_norm` unless it is 0.
Output combined_rows(Graph& graph,
                     const std::vector<Output>& table,
                     const IdsAndWeights& ids,
                     const std::string& combiner,
                     double max_norm = 0);

// Arguments that most columns share: an optional name, and the feature.
inline constexpr const char* kNameArgument = "name = NULL: string";
inline constexpr const char* kFeatureArgument =
    "key: feature; kept. Names of features: strings or character vectors. Within [set_columns()] "
    "or [feature_columns()] with `names`, also selections such as [starts_with()].";

// Registers a column class with two names ("column_x, feature_column.x"): that of its R function
// and that of its member of `tf`. Also gives its arguments as ArgSpec declarations, and a summary.
// An argument of kind "feature" is the name of a feature; scripts may pass several names to create
// several columns. Arguments marked "kept" must not differ from those in the model directory.
#define RUNHOOKS_REGISTER_COLUMN(Class, ...)                                               \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(column_registered_, __COUNTER__) =    \
      ::runhooks::Factory<::runhooks::FeatureColumn>::instance().add(                      \
          #Class,                                                                          \
          [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::FeatureColumn> { \
            return std::make_shared<Class>(args);                                          \
          },                                                                               \
          __VA_ARGS__)

}  // namespace runhooks
