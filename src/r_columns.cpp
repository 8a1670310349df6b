// Feature columns in R: their names, the input layer and the linear model for custom models.
#include "columns/input_layer.h"
#include "columns/linear_model.h"
#include "runhooks_r.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

Features features_from_r(SEXP features) {
  Features result;
  const RList given(features, "`features`");
  for (R_xlen_t i = 0; i < given.size(); ++i) result[given.name(i)] = tensor_of(given[i]);
  return result;
}

Graph& graph_of_features(const Features& features) {
  if (features.empty()) invalid_argument("`features` must be a named list of tensors.");
  return features.begin()->second.graph();
}

std::vector<ColumnPtr> columns_from_r(SEXP columns) {
  ValueList specs;
  const RList given(columns, "the feature columns");
  for (R_xlen_t i = 0; i < given.size(); ++i) {
    specs.push_back(Value::of(spec_from_r(given[i], "a feature column")));
  }
  return make_columns(specs);
}

using VariablesByName = std::vector<std::pair<std::string, std::vector<VariablePtr>>>;

SEXP layer_to_r(const Output& tensor, const VariablesByName& variables) {
  Rcpp::List by_column(variables.size());
  Rcpp::CharacterVector names(variables.size());
  for (size_t i = 0; i < variables.size(); ++i) {
    Rcpp::List handles(variables[i].second.size());
    for (size_t k = 0; k < variables[i].second.size(); ++k) {
      handles[k] = variable_handle(variables[i].second[k]);
    }
    by_column[i] = handles;
    names[i] = variables[i].first;
  }
  by_column.names() = names;
  Rcpp::Shield<SEXP> handle(tensor_handle(tensor));
  return Rcpp::List::create(Rcpp::_["tensor"] = handle, Rcpp::_["variables"] = by_column);
}

}  // namespace

// The name of a column, which is made to find what is wrong with it.
// [[Rcpp::export(rng = false)]]
std::string cpp_column_name(SEXP spec) {
  return border([&] {
    return make_column(*spec_from_r(spec, "a feature column"))->name();
  });
}

// What kind of a column it is: "dense", "categorical" or "both", its features, and its width.
// [[Rcpp::export(rng = false)]]
SEXP cpp_column_info(SEXP spec) {
  return border([&]() -> SEXP {
    const ColumnPtr column = make_column(*spec_from_r(spec, "a feature column"));
    const auto* dense = dynamic_cast<const DenseColumn*>(column.get());
    const auto* categorical = dynamic_cast<const CategoricalColumn*>(column.get());
    return Rcpp::List::create(
        Rcpp::_["name"] = column->name(), Rcpp::_["is_dense"] = dense != nullptr,
        Rcpp::_["is_categorical"] = categorical != nullptr,
        Rcpp::_["features"] = Rcpp::wrap(column->feature_keys()),
        Rcpp::_["num_buckets"] =
            categorical ? static_cast<double>(categorical->num_buckets()) : NA_REAL);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_input_layer(SEXP features,
                     SEXP columns,
                     Texts collections,
                     bool trainable) {
  return border([&]() -> SEXP {
    const Features given = features_from_r(features);
    InputLayerOptions options;
    options.trainable = trainable;
    options.collections.insert(options.collections.end(), collections.begin(), collections.end());
    const InputLayer layer =
        input_layer(graph_of_features(given), given, columns_from_r(columns), options);
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
  return border([&]() -> SEXP {
    const Features given = features_from_r(features);
    LinearModelOptions options;
    options.units = whole_from_r(units, "`units`");
    options.sparse_combiner = sparse_combiner;
    options.trainable = trainable;
    options.collections.insert(options.collections.end(), collections.begin(), collections.end());
    const LinearModel model =
        linear_model(graph_of_features(given), given, columns_from_r(columns), options);
    return layer_to_r(model.logits, model.variables);
  });
}
