// What lives here: FeatureColumn and its kinds, and the cache of features and what columns made of them.
// Who may use it: one file a column, the input layer and the linear model, estimators.
// What it must not know: any particular column, losses, R.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/args.h"
#include "graph/graph.h"
#include "graph/partitioned.h"
#include "graph/variable.h"

namespace runhooks {

using Features = std::map<std::string, Output>;

class FeatureColumn;

// The ids of a categorical column: int64 [batch, k], below 0 where there is none
// (ops/categorical.h), and perhaps float32 weights of the same shape.
struct IdsAndWeights {
  Output ids, weights;
};

// Features by name and, computed once, what columns made of them.
class TransformationCache {
 public:
  TransformationCache(Graph& graph, const Features& features)
      : graph_(graph), features_(features) {}
  Graph& graph() const { return graph_; }
  // A raw feature of at least 2 dimensions; throws where there is none of this name.
  Output feature(const std::string& key);
  Output transformed(const FeatureColumn& column);

 private:
  Graph& graph_;
  const Features& features_;
  std::map<std::string, Output> raw_, transformed_;
};

class FeatureColumn {
 public:
  virtual ~FeatureColumn() = default;
  // As TensorFlow names it: "age", "age_bucketized", "a_X_b". Variables and scopes are named after
  // it.
  virtual std::string name() const = 0;
  // The features that it reads.
  virtual std::vector<std::string> feature_keys() const = 0;
  virtual Output transform(TransformationCache& cache) const = 0;
  // What its scope and variables are named after, where it is not its own name.
  virtual std::string scope_name() const { return name(); }
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

// The feature `key` as strings or integers, which categorical columns are made of. `wanted` is the
// dtype that the column was given ("string", "int32", ...).
Output categorical_feature(TransformationCache& cache,
                           const std::string& key,
                           const std::string& constructor,
                           const std::string& wanted);

// The combined rows of a table, or of the parts that it was cut into, for each example:
// [batch, width]. `combiner` is "sum", "mean" or
// "sqrtn"; a `max_norm` of 0 is none.
Output combined_rows(Graph& graph,
                     const std::vector<Output>& table,
                     const IdsAndWeights& ids,
                     const std::string& combiner,
                     double max_norm = 0);

#define RUNHOOKS_REGISTER_COLUMN(Class)                                                            \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(column_registered_, __LINE__) =               \
      ::runhooks::Factory<::runhooks::FeatureColumn>::instance().add(                              \
          #Class, [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::FeatureColumn> { \
            return std::make_shared<Class>(args);                                                  \
          })

}  // namespace runhooks
