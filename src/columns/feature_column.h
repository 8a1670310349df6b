// What lives here: FeatureColumn and its kinds, and the cache of features and what columns made of them.
// Who may use it: one file a column, the input layer and the linear model, estimators.
// What it must not know: any particular column, losses, R.
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

// A feature as an input function gives it: a tensor, or TensorFlow's triple of a sparse one.
struct Feature {
  Feature() = default;
  Feature(Output tensor) : values(tensor) {}  // NOLINT
  Feature(Output at, Output sparse_values, Output shape)
      : values(sparse_values), indices(at), dense_shape(shape) {}
  bool is_sparse() const { return static_cast<bool>(indices); }
  Output values;
  Output indices, dense_shape;  // int64 [n, rank] and [rank]; missing where it is a tensor
};
using Features = std::map<std::string, Feature>;

class FeatureColumn;

// What a column reads of one feature, for those who feed it or parse it from examples.
struct FeatureRead {
  FeatureRead(std::string feature, DType type)
      : key(std::move(feature)),
        dtype(type),
        example_dtype(is_integer(type) ? DType::kInt64 : type) {}
  // One number of each example, computed from what it gives.
  static FeatureRead one_number(std::string feature) {
    FeatureRead read(std::move(feature), DType::kFloat32);
    read.has_shape = true;
    read.shape = Shape{1};
    read.is_normalized = true;
    return read;
  }
  std::string key;
  DType dtype;  // strings, integers or float32
  // In a serialized example: numbers of one shape, with a value where it is missing, or (without
  // a shape) any number of values.
  DType example_dtype;
  bool has_shape = false;
  Shape shape;
  Value default_value;

  bool is_weight = false;
  bool is_normalized = false;  // by a function, after which its range is another one
  bool takes_unknown = false;  // words that are not in its vocabulary have a bucket
  int64_t num_ids = 0;         // of ids that must be below it; 0: any integer will do
};

// The ids of a categorical column: int64 [batch, k], below 0 where there is none
// (ops/lookup/categorical.h), and perhaps float32 weights of the same shape.
struct IdsAndWeights {
  Output ids, weights;
};

// Features by name and, computed once, what columns made of them.
class TransformationCache {
 public:
  TransformationCache(Graph& graph, const Features& features)
      : graph_(graph), features_(features) {}
  Graph& graph() const { return graph_; }
  // As it was given; throws where there is none of this name.
  const Feature& given(const std::string& key) const;
  // A raw feature of at least 2 dimensions; a sparse one with "" or 0 where it has no value.
  Output feature(const std::string& key);
  // Where a sparse feature has values: bool, of the shape of feature(); missing for dense ones.
  Output present(const std::string& key);
  // Once for all columns of the same content(), whatever their names.
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
  // As TensorFlow names it: "age", "age_bucketized", "a_X_b". Variables and scopes are named after
  // it.
  virtual std::string name() const = 0;
  // The features that it reads, and how.
  virtual std::vector<FeatureRead> reads() const = 0;
  std::vector<std::string> feature_keys() const;
  virtual Output transform(TransformationCache& cache) const = 0;
  // What its scope and variables are named after, where it is not its own name.
  virtual std::string scope_name() const { return name(); }
  // What it has chosen itself where nothing was given, by the names of its arguments.
  virtual std::vector<std::pair<std::string, Value>> chosen() const { return {}; }
  // Equal for columns of one type that were made of equal arguments, as TensorFlow's named tuples
  // are: make_column() sets it.
  const std::string& content() const { return content_; }
  void set_content(std::string content) { content_ = std::move(content); }

 private:
  std::string content_;
};

// What a column that has variables of its own needs to make them in the current variable scope.
struct ColumnVariables {
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
  bool trainable = true;
  std::vector<VariablePtr> made;
};

// A column that gives a float32 tensor [batch, ...].
class DenseColumn : public virtual FeatureColumn {
 public:
  // The shape of one row.
  virtual Shape variable_shape() const = 0;
  virtual Output dense_tensor(TransformationCache& cache, ColumnVariables&) const {
    return cache.transformed(*this);
  }
  int64_t num_elements() const { return variable_shape().num_elements(); }
};

// A column that gives ids from 0 to num_buckets() - 1; transform() gives the ids alone.
class CategoricalColumn : public virtual FeatureColumn {
 public:
  virtual int64_t num_buckets() const = 0;
  virtual IdsAndWeights ids_and_weights(TransformationCache& cache) const {
    return {cache.transformed(*this), Output()};
  }
  // Whether a cross may take its ids: hashing before crossing adds collisions, weights are lost.
  virtual bool can_be_crossed() const { return true; }
};

using ColumnPtr = std::shared_ptr<FeatureColumn>;

// Makes a column by the name of its type ("NumericColumn") from its arguments.
ColumnPtr make_column(const Args& spec);
// The column that argument `name` of a column's specification is.
ColumnPtr column_argument(const Args& args, const std::string& name);
std::shared_ptr<const CategoricalColumn> categorical_argument(const Args& args,
                                                              const std::string& name);
std::vector<ColumnPtr> make_columns(const ValueList& specs);

// Sorted by name, as all models take them; throws where two have one name.
std::vector<ColumnPtr> sorted_columns(std::vector<ColumnPtr> columns);

// A column's scope as part of the names of operations and variables, which allow fewer characters:
// "log(x)" is "log_x_".
std::string scope_of(const FeatureColumn& column);

// The ids of a categorical column: what `ids_of` makes of the values of feature `key`, strings or
// integers (`wanted` is the dtype that the column was given: "string", "int32", ...). In a dense
// feature "" and -1 are missing, which `drop_missing` asks for; in a sparse one they are values.
Output categorical_ids(TransformationCache& cache,
                       const std::string& key,
                       const std::string& constructor,
                       const std::string& wanted,
                       const std::function<Output(Output values, bool drop_missing)>& ids_of);
// The values of a feature as categorical columns take them: logicals become integers.
Output integers_or_strings(Graph& graph, Output values);

// The combined rows of a table, or of the parts that it was cut into, for each example:
// [batch, width]. `combiner` is "sum", "mean" or
// "sqrtn"; a `max_norm` of 0 is none.
Output combined_rows(Graph& graph,
                     const std::vector<Output>& table,
                     const IdsAndWeights& ids,
                     const std::string& combiner,
                     double max_norm = 0);

// What most columns have: a name that was found when it was made, which others may be told by, and
// the feature.
inline constexpr const char* kNameArgument = "name = NULL: string";
inline constexpr const char* kFeatureArgument =
    "key: feature; kept. Names of features: strings, character vectors, and within [set_columns()] "
    "or [feature_columns()] with `names` selections such as [starts_with()].";

// Class, how scripts call its constructor ("column_x, feature_column.x"), and its arguments as
// ArgSpec has them. One of the kind "feature" is the name of what it reads: scripts give several,
// for as many columns. Those that are "kept" are what a model's folder must agree on.
#define RUNHOOKS_REGISTER_COLUMN(Class, ...)                                               \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(column_registered_, __COUNTER__) =    \
      ::runhooks::Factory<::runhooks::FeatureColumn>::instance().add(                      \
          #Class,                                                                          \
          [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::FeatureColumn> { \
            return std::make_shared<Class>(args);                                          \
          },                                                                               \
          __VA_ARGS__)

}  // namespace runhooks
