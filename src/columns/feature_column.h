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

namespace runhooks {

using Features = std::map<std::string, Output>;

class FeatureColumn;

// Features by name and, computed once, what columns make of them.
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
};

// A column that gives a float32 tensor [batch, ...].
class DenseColumn : public FeatureColumn {
 public:
  // The shape of one row.
  virtual Shape variable_shape() const = 0;
  virtual Output dense_tensor(TransformationCache& cache) const { return cache.transformed(*this); }
  int64_t num_elements() const { return variable_shape().num_elements(); }
};

using ColumnPtr = std::shared_ptr<FeatureColumn>;

// Makes a column by the name of its type ("NumericColumn") from its arguments.
ColumnPtr make_column(const Args& spec);
std::vector<ColumnPtr> make_columns(const ValueList& specs);

#define RUNHOOKS_REGISTER_COLUMN(Class)                                                            \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(column_registered_, __LINE__) =               \
      ::runhooks::Factory<::runhooks::FeatureColumn>::instance().add(                              \
          #Class, [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::FeatureColumn> { \
            return std::make_shared<Class>(args);                                                  \
          })

}  // namespace runhooks
