// FeatureColumn, its kinds, and the cache of transformed features.
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

// A feature from an input function: a tensor, or the components of a sparse tensor.
struct Feature {
  Feature() = default;
  Feature(Output tensor) : values(tensor) {}  // NOLINT
  Feature(Output at, Output sparse_values, Output shape)
      : values(sparse_values), indices(at), dense_shape(shape) {}
  bool is_sparse() const { return static_cast<bool>(indices); }
  Output values;
  Output indices, dense_shape;  // int64 [n, rank] and [rank]; absent if dense
};
using Features = std::map<std::string, Feature>;

class FeatureColumn;

// What a column reads of one feature; used to feed the feature or to parse it from examples.
struct FeatureRead {
  FeatureRead(std::string feature, DType type)
      : key(std::move(feature)),
        dtype(type),
        example_dtype(is_integer(type) ? DType::kInt64 : type) {}
  // One number per example, computed from the feature.
  static FeatureRead one_number(std::string feature) {
    FeatureRead read(std::move(feature), DType::kFloat32);
    read.has_shape = true;
    read.shape = Shape{1};
    read.is_normalized = true;
    return read;
  }
  std::string key;
  DType dtype;  // strings, integers or float32
  // In a serialized example: values of a fixed shape with a default for missing ones, or, without a
  // shape, any number of values.
  DType example_dtype;
  bool has_shape = false;
  Shape shape;
  Value default_value;

  bool is_weight = false;
  bool is_normalized = false;  // a function normalizes it, so its range differs
  bool takes_unknown = false;  // unknown strings have an out-of-vocabulary bucket
  int64_t num_ids = 0;         // ids must be below this; 0: unlimited
};

// Ids of a categorical column, int64 [batch, k], negative if missing (ops/lookup/categorical.h),
// with optional float32 weights of the same shape.
struct IdsAndWeights {
  Output ids, weights;
};

// Features by name, and the output of each column, computed once.
class TransformationCache {
 public:
  TransformationCache(Graph& graph, const Features& features)
      : graph_(graph), features_(features) {}
  Graph& graph() const { return graph_; }
  // The feature as the input function returned it; throws for unknown names.
  const Feature& given(const std::string& key) const;
  // The raw feature with at least 2 dimensions; missing elements of a sparse feature are "" or 0.
  Output feature(const std::string& key);
  // Mask of the elements that a sparse feature has: bool, shaped like feature(); absent for dense
  // features.
  Output present(const std::string& key);
  // Computed once for all columns with equal content(), whatever their names.
  Output transformed(const FeatureColumn& column);

 private:
  Output padded(const Feature& feature, Output values, Output filler) const;
  Graph& graph_;
  const Features& features_;
  std::map<std::string, Output> raw_, present_, transformed_;
};

class FeatureColumn {
 public:
  virtual ~FeatureColumn() = default;
  // TensorFlow's name ("age", "age_bucketized", "a_X_b"); prefix of its variables and scopes.
  virtual std::string name() const = 0;
  virtual std::vector<FeatureRead> reads() const = 0;
  std::vector<std::string> feature_keys() const;
  virtual Output transform(TransformationCache& cache) const = 0;
  // Base name for its scope and variables, if it differs from name().
  virtual std::string scope_name() const { return name(); }
  // Defaults that the column computed for arguments not supplied, by argument name.
  virtual std::vector<std::pair<std::string, Value>> derived_defaults() const { return {}; }
  // Equal for columns of one type with equal arguments, like TensorFlow's named tuples. Set by
  // make_column().
  const std::string& content() const { return content_; }
  void set_content(std::string content) { content_ = std::move(content); }

 private:
  std::string content_;
};

// Where and how a column creates its variables in the current variable scope.
struct ColumnVariables {
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
  bool trainable = true;
  std::vector<VariablePtr> made;
};

// A column that returns a float32 tensor [batch, ...].
class DenseColumn : public virtual FeatureColumn {
 public:
  // Shape of one example.
  virtual Shape variable_shape() const = 0;
  virtual Output dense_tensor(TransformationCache& cache, ColumnVariables&) const {
    return cache.transformed(*this);
  }
  int64_t num_elements() const { return variable_shape().num_elements(); }
};

// A column that returns ids from 0 to num_buckets() - 1; transform() returns them without weights.
class CategoricalColumn : public virtual FeatureColumn {
 public:
  virtual int64_t num_buckets() const = 0;
  virtual IdsAndWeights ids_and_weights(TransformationCache& cache) const {
    return {cache.transformed(*this), Output()};
  }
  // Whether crossed_column() may use its ids. Hashed ids would add collisions, and weights would be
  // lost.
  virtual bool can_be_crossed() const { return true; }
};

using ColumnPtr = std::shared_ptr<FeatureColumn>;

// Creates a column from the name of its type ("NumericColumn") and its arguments.
ColumnPtr make_column(const Args& spec);
// Returns the column passed as argument `name` of a column's specification.
ColumnPtr column_argument(const Args& args, const std::string& name);
std::shared_ptr<const CategoricalColumn> categorical_argument(const Args& args,
                                                              const std::string& name);
std::vector<ColumnPtr> make_columns(const ValueList& specs);

// Sorted by name, as all models need them; throws on duplicate names.
std::vector<ColumnPtr> sorted_columns(std::vector<ColumnPtr> columns);

// A valid scope name for the column: "log(x)" becomes "log_x_".
std::string scope_of(const FeatureColumn& column);
// The same for all columns of a layer, whose variables need different names: "log(x)" and "log[x]"
// become "log_x_" and "log_x__1". Valid names stay as they are. Does not depend on the order.
std::vector<std::string> scopes_of(const std::vector<ColumnPtr>& columns);

// Applies `ids_of` to feature `key`. `wanted` is the declared dtype ("string", "int32", ...). ""
// and -1 are missing in a dense feature, and `drop_missing` removes them; in a sparse feature they
// are values.
Output categorical_ids(TransformationCache& cache,
                       const std::string& key,
                       const std::string& constructor,
                       const std::string& wanted,
                       const std::function<Output(Output values, bool drop_missing)>& ids_of);
// Converts logicals to integers, which categorical columns accept.
Output integers_or_strings(Graph& graph, Output values);

// Combined rows of a (possibly partitioned) table for each example: [batch, width]. `combiner` is
// "sum", "mean" or "sqrtn"; a `max_norm` of 0 disables clipping.
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

// Class, the names of its constructors ("column_x, feature_column.x"), and its arguments in the
// format of ArgSpec. "feature" arguments name the features to read; scripts may pass several to
// create several columns. Arguments marked "kept" must match the model directory.
#define RUNHOOKS_REGISTER_COLUMN(Class, ...)                                               \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(column_registered_, __COUNTER__) =    \
      ::runhooks::Factory<::runhooks::FeatureColumn>::instance().add(                      \
          #Class,                                                                          \
          [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::FeatureColumn> { \
            return std::make_shared<Class>(args);                                          \
          },                                                                               \
          __VA_ARGS__)

}  // namespace runhooks
