#include "columns/feature_column.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/ascii.h"
#include "base/suggestions.h"
#include "ops/lookup/categorical.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

const Feature& TransformationCache::input_feature(const std::string& key) const {
  auto found = features_.find(key);
  if (found != features_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& entry : features_) names.push_back(entry.first);
  std::vector<std::string> hints = did_you_mean(key, names);
  hints.push_back(str_cat("The input function returns: ", str_join(names, ", "), "."));
  throw Error(Code::kNotFound, str_cat("Feature ", key, " is not in features dictionary."), hints);
}

// Converts a sparse feature to a dense tensor. `values` are its values, and the other elements are
// `filler`.
Output TransformationCache::to_dense(const Feature& feature, Output values, Output filler) const {
  return graph_.op("SparseToDense", {feature.indices, feature.dense_shape, values, filler});
}

namespace {

Output expand_to_matrix(Graph& graph, Output tensor) {
  if (!tensor.shape().has_rank() || tensor.shape().rank() != 1) return tensor;
  return graph.op("ExpandDims", {tensor, graph.scalar(DType::kInt32, -1, "ExpandDims/dim")});
}

}  // namespace

Output TransformationCache::feature(const std::string& key) {
  auto found = raw_.find(key);
  if (found != raw_.end()) return found->second;
  const Feature& feature = input_feature(key);
  Output tensor = feature.values;
  if (feature.is_sparse()) {
    const Output filler = tensor.dtype() == DType::kString
                              ? graph_.constant(Tensor::string_scalar(""), "filler")
                              : graph_.scalar(tensor.dtype(), 0, "filler");
    tensor = to_dense(feature, tensor, filler);
  }
  if (tensor.shape().has_rank() && tensor.shape().rank() == 0) {
    invalid_argument("Feature '", key, "' must have a row for each example; got a scalar.");
  }
  tensor = expand_to_matrix(graph_, tensor);
  raw_[key] = tensor;
  return tensor;
}

Output TransformationCache::mask(const std::string& key) {
  const Feature& feature = input_feature(key);
  if (!feature.is_sparse()) return Output();
  Output& mask = masks_[key];
  if (!mask) {
    const Output true_value = graph_.scalar(DType::kBool, 1, "present");
    mask = expand_to_matrix(
        graph_, to_dense(feature, true_value, graph_.scalar(DType::kBool, 0, "absent")));
  }
  return mask;
}

Output TransformationCache::transformed(const FeatureColumn& column) {
  auto found = transformed_.find(column.equality_key());
  if (found != transformed_.end()) return found->second;
  const Output result = column.transform(*this);
  transformed_[column.equality_key()] = result;
  return result;
}

std::vector<std::string> FeatureColumn::feature_keys() const {
  std::vector<std::string> keys;
  for (const FeatureRead& read : reads()) keys.push_back(read.key);
  return keys;
}

ColumnPtr make_column(const Args& spec) {
  const auto& entry = Factory<FeatureColumn>::instance().find("feature column", spec.text("type"));
  check_arguments(entry.arguments(), spec);
  const auto column = entry.make(spec);
  column->set_equality_key(canonical_text(spec));
  return column;
}

ColumnPtr column_argument(const Args& args, const std::string& name) {
  const Value* value = args.find(name);
  const auto* spec = value ? value->get_if<std::shared_ptr<Args>>() : nullptr;
  if (!spec) {
    invalid_argument("`", name, "` must be a feature column, not ", value ? value->kind() : "NULL",
                     ".");
  }
  return make_column(**spec);
}

std::shared_ptr<const CategoricalColumn> categorical_argument(const Args& args,
                                                              const std::string& name) {
  const ColumnPtr column = column_argument(args, name);
  auto categorical = std::dynamic_pointer_cast<const CategoricalColumn>(column);
  if (!categorical) {
    invalid_argument("`", name, "` must be a categorical column; '", column->name(), "' is not.");
  }
  return categorical;
}

std::vector<ColumnPtr> make_columns(const ValueList& specs) {
  std::vector<ColumnPtr> columns;
  for (const Value& spec : specs) {
    const auto* args = spec.get_if<std::shared_ptr<Args>>();
    if (!args) invalid_argument("A feature column is expected, not ", spec.kind(), ".");
    columns.push_back(make_column(**args));
  }
  return columns;
}

std::vector<ColumnPtr> sorted_columns(std::vector<ColumnPtr> columns) {
  std::sort(columns.begin(), columns.end(),
            [](const ColumnPtr& a, const ColumnPtr& b) { return a->name() < b->name(); });
  for (size_t i = 1; i < columns.size(); ++i) {
    if (columns[i]->name() == columns[i - 1]->name()) {
      throw Error(
          Code::kInvalidArgument,
          str_cat("Duplicate feature column name found for columns: '", columns[i]->name(), "'."),
          {"Variables are named after columns, so two columns with one name would share them. "
           "Remove one column, or rename its feature."});
    }
  }
  return columns;
}

namespace {

std::string sanitize_scope(std::string name) {
  for (char& c : name) {
    const bool is_allowed = is_ascii_alnum(c) || c == '_' || c == '.' || c == '-';
    if (!is_allowed) c = '_';
  }
  return name;
}

}  // namespace

std::string scope_of(const FeatureColumn& column) { return sanitize_scope(column.scope_name()); }

std::vector<std::string> scopes_of(const std::vector<ColumnPtr>& columns) {
  std::map<std::string, std::string> scopes;
  for (const ColumnPtr& column : columns) scopes[column->scope_name()] = scope_of(*column);
  std::set<std::string> used_scopes;
  std::vector<std::string> colliding_names;
  for (const bool is_valid : {true, false}) {
    for (const auto& scope : scopes) {
      if ((scope.first == scope.second) != is_valid) continue;
      if (!used_scopes.insert(scope.second).second) colliding_names.push_back(scope.first);
    }
  }
  for (const std::string& name : colliding_names) {
    std::string& scope = scopes[name];
    while (!used_scopes.insert(scope).second) scope += "_1";
  }
  std::vector<std::string> scope_names;
  for (const ColumnPtr& column : columns) scope_names.push_back(scopes[column->scope_name()]);
  return scope_names;
}

namespace {

std::string dtype_hint(const std::string& constructor,
                       const std::string& feature_dtype,
                       bool is_string) {
  if (constructor == "column_categorical_with_identity") {
    return "Use a column of a vocabulary or of hash buckets for strings.";
  }
  if (constructor != "column_categorical_with_vocabulary_list") {
    return str_cat("Use `dtype = tf$", feature_dtype, "`.");
  }
  return is_string ? "Give the vocabulary as strings."
                   : "Give the vocabulary as integers, or make strings of the feature.";
}

}  // namespace

Output integers_or_strings(Graph& graph, Output values) {
  return values.dtype() == DType::kBool ? cast(graph, values, DType::kInt32) : values;
}

Output categorical_ids(TransformationCache& cache,
                       const std::string& key,
                       const std::string& constructor,
                       const std::string& declared_dtype,
                       const std::function<Output(Output values, bool drop_missing)>& ids_of) {
  const Feature& feature = cache.input_feature(key);
  Graph& graph = cache.graph();
  const Output values =
      integers_or_strings(graph, feature.is_sparse() ? feature.values : cache.feature(key));
  const bool is_string = values.dtype() == DType::kString;
  if (!is_string && !is_integer(values.dtype())) {
    throw Error(Code::kInvalidArgument,
                str_cat(constructor, "(\"", key,
                        "\") needs strings or integers, but the feature is of type ",
                        dtype_name(values.dtype()), "."),
                {"Use column_bucketized() for numbers, or convert them to integers."});
  }
  if (is_string != (declared_dtype == "string")) {
    throw Error(Code::kInvalidArgument,
                str_cat(constructor, "(\"", key, "\") is of dtype ", declared_dtype,
                        ", but the feature is of type ", dtype_name(values.dtype()), "."),
                {dtype_hint(constructor, dtype_name(values.dtype()), is_string)});
  }
  if (!feature.is_sparse()) return ids_of(values, true);
  const Output flat_shape = graph.int_vector({-1}, "Reshape/shape");
  const Output ids = graph.op("Reshape", {ids_of(values, false), flat_shape});
  const Output missing_id = graph.constant(Tensor::of<int64_t>(Shape{}, {kAbsentId}), "absent");
  const Output dense =
      graph.op("SparseToDense", {feature.indices, feature.dense_shape, ids, missing_id});
  if (dense.shape().has_rank() && dense.shape().rank() == 2) return dense;
  // Reshapes to [batch, k], as for a dense feature.
  const Output batch = graph.op("Slice", {feature.dense_shape, graph.int_vector({0}, "begin"),
                                          graph.int_vector({1}, "size")});
  const Output remaining_size = graph.constant(Tensor::of<int64_t>(Shape{1}, {-1}), "rest");
  const Output shape =
      graph.op("ConcatV2", {batch, remaining_size, graph.scalar(DType::kInt32, 0, "axis")});
  return graph.op("Reshape", {dense, shape});
}

Output combined_rows(Graph& graph,
                     const std::vector<Output>& table,
                     const IdsAndWeights& ids,
                     const std::string& combiner,
                     double max_norm) {
  std::vector<Output> inputs = table;
  inputs.push_back(ids.ids);
  if (ids.weights) inputs.push_back(ids.weights);
  return graph.op("FusedEmbeddingLookup", inputs)
      .attr("num_params", static_cast<int64_t>(table.size()))
      .attr("N", static_cast<int64_t>(ids.weights ? 1 : 0))
      .attr("combiner", combiner)
      .attr("max_norm", static_cast<float>(max_norm));
}

}  // namespace runhooks
