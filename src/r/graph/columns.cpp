#include "columns/input_layer.h"
#include "columns/linear_model.h"
#include "columns/normalizing.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/named_values.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

Features features_from_r(SEXP features) {
  Features result;
  const RList feature_list(features, "`features`");
  for (R_xlen_t i = 0; i < feature_list.size(); ++i)
    result[feature_list.name(i)] = feature_from_r(feature_list[i]);
  return result;
}

Graph& graph_of_features(const Features& features) {
  if (features.empty()) invalid_argument("`features` must be a named list of tensors.");
  return features.begin()->second.values.graph();
}

std::vector<ColumnPtr> columns_from_r(SEXP columns) {
  ValueList specs;
  const RList column_list(columns, "the feature columns");
  for (R_xlen_t i = 0; i < column_list.size(); ++i) {
    specs.push_back(Value::of(spec_from_r(column_list[i], "a feature column")));
  }
  return make_columns(specs);
}

using VariablesByName = std::vector<std::pair<std::string, std::vector<VariablePtr>>>;

SEXP layer_to_r(const Output& tensor, const VariablesByName& variables) {
  Rcpp::Shield<SEXP> by_column(
      named_values_to_r(variables, [](const std::vector<VariablePtr>& of_column) {
        return list_to_r(of_column, variable_handle);
      }));
  Rcpp::Shield<SEXP> handle(tensor_handle(tensor));
  return Rcpp::List::create(Rcpp::_["tensor"] = handle, Rcpp::_["variables"] = by_column);
}

}  // namespace

namespace runhooks {
namespace r {

Feature feature_from_r(SEXP feature) {
  if (!Rf_inherits(feature, "tensorflow.sparse_tensor")) return tensor_of(feature);
  const RList triple(feature, "a sparse tensor");
  return Feature(tensor_of(triple.find("indices")), tensor_of(triple.find("values")),
                 tensor_of(triple.find("dense_shape")));
}

SEXP feature_to_r(const Feature& feature) {
  if (!feature.is_sparse()) return tensor_handle(feature.values);
  Rcpp::Shield<SEXP> sparse(named_list({"indices", "values", "dense_shape"}));
  SET_VECTOR_ELT(sparse, 0, tensor_handle(feature.indices));
  SET_VECTOR_ELT(sparse, 1, tensor_handle(feature.values));
  SET_VECTOR_ELT(sparse, 2, tensor_handle(feature.dense_shape));
  Rcpp::Shield<SEXP> classes(text_to_r("tensorflow.sparse_tensor"));
  Rf_setAttrib(sparse, R_ClassSymbol, classes);
  return sparse;
}

SEXP reads_to_r(const std::vector<FeatureRead>& reads) {
  return list_to_r(reads, [](const FeatureRead& read) {
    Rcpp::Shield<SEXP> default_value(value_to_r(read.default_value));
    Rcpp::IntegerVector shape;
    for (int d = 0; d < read.shape.rank(); ++d) {
      shape.push_back(static_cast<int>(read.shape.dim(d)));
    }
    return Rcpp::List::create(Rcpp::_["key"] = read.key, Rcpp::_["dtype"] = dtype_name(read.dtype),
                              Rcpp::_["example_dtype"] = dtype_name(read.example_dtype),
                              Rcpp::_["has_shape"] = read.has_shape, Rcpp::_["shape"] = shape,
                              Rcpp::_["default_value"] = default_value,
                              Rcpp::_["is_weight"] = read.is_weight,
                              Rcpp::_["is_normalized"] = read.is_normalized,
                              Rcpp::_["accepts_unknown_strings"] = read.accepts_unknown_strings,
                              Rcpp::_["num_ids"] = static_cast<double>(read.num_ids));
  });
}

}  // namespace r
}  // namespace runhooks

// Constructs the column to validate it. Returns its name and the arguments that it derived from
// other arguments.
// [[Rcpp::export(rng = false)]]
SEXP cpp_column_check(SEXP spec) {
  return guarded_entry([&]() -> SEXP {
    const auto args = spec_from_r(spec, "a feature column");
    args->set_owner("");  // messages name the user's call instead
    const ColumnPtr column = make_column(*args);
    Args derived;
    for (const auto& [name, value] : column->derived_defaults()) {
      if (!args->has(name)) derived.set(name, value);
    }
    Rcpp::Shield<SEXP> values(value_to_r(Value::of(std::make_shared<Args>(derived))));
    return Rcpp::List::create(Rcpp::_["name"] = column->name(), Rcpp::_["chosen"] = values);
  });
}

// [[Rcpp::export(rng = false)]]
bool cpp_is_normalizing() { return is_normalizer_running(); }

// Returns the number of buckets of a categorical column; NA for other columns.
// [[Rcpp::export(rng = false)]]
double cpp_column_buckets(SEXP spec) {
  return guarded_entry([&]() -> double {
    const ColumnPtr column = make_column(*spec_from_r(spec, "a feature column"));
    const auto* categorical = dynamic_cast<const CategoricalColumn*>(column.get());
    return categorical ? static_cast<double>(categorical->num_buckets()) : NA_REAL;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_features_of_columns(SEXP columns) {
  return guarded_entry([&]() -> SEXP {
    std::vector<FeatureRead> all;
    for (const ColumnPtr& column : columns_from_r(columns)) {
      for (const FeatureRead& read : column->reads()) all.push_back(read);
    }
    return reads_to_r(all);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_input_layer(SEXP features, SEXP columns, Texts collections, bool trainable) {
  return guarded_entry([&]() -> SEXP {
    const Features tensors = features_from_r(features);
    InputLayerOptions options;
    options.trainable = trainable;
    options.collections.insert(options.collections.end(), collections.begin(), collections.end());
    const InputLayer layer =
        input_layer(graph_of_features(tensors), tensors, columns_from_r(columns), options);
    return layer_to_r(layer.tensor, layer.variables);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_linear_model(SEXP features,
                      SEXP columns,
                      double units,
                      Text sparse_combiner,
                      Texts collections,
                      bool trainable) {
  return guarded_entry([&]() -> SEXP {
    const Features tensors = features_from_r(features);
    LinearModelOptions options;
    options.units = whole_from_r(units, "`units`");
    options.sparse_combiner = sparse_combiner;
    options.trainable = trainable;
    options.collections.insert(options.collections.end(), collections.begin(), collections.end());
    const LinearModel model =
        linear_model(graph_of_features(tensors), tensors, columns_from_r(columns), options);
    return layer_to_r(model.logits, model.variables);
  });
}
