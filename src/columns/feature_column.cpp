#include "columns/feature_column.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/ascii.h"
#include "base/suggestions.h"
#include "ops/lookup/categorical.h"

namespace runhooks {

const Feature& TransformationCache::given(const std::string& key) const {
  auto found = features_.find(key);
  if (found != features_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& entry : features_) names.push_back(entry.first);
  std::vector<std::string> hints = did_you_mean(key, names);
  hints.push_back(str_cat("The input function returns: ", str_join(names, ", "), "."));
  throw Error(Code::kNotFound, str_cat("Feature ", key, " is not in features dictionary."), hints);
}

// Scatters `values` into a dense tensor; all other elements are `filler`.
Output TransformationCache::padded(const Feature& feature, Output values, Output filler) const {
  return graph_.op("SparseToDense", {feature.indices, feature.dense_shape, values, filler});
}

namespace {

Output with_two_dimensions(Graph& graph, Output tensor) {
  if (!tensor.shape().has_rank() || tensor.shape().rank() != 1) return tensor;
  return graph.op("ExpandDims", {tensor, graph.scalar(DType::kInt32, -1, "ExpandDims/dim")});
}

}  // namespace

Output TransformationCache::feature(const std::string& key) {
  auto known = raw_.find(key);
  if (known != raw_.end()) return known->second;
  const Feature& feature = given(key);
  Output tensor = feature.values;
  if (feature.is_sparse()) {
    const Output filler = tensor.dtype() == DType::kString
                              ? graph_.constant(Tensor::string_scalar(""), "filler")
                              : graph_.scalar(tensor.dtype(), 0, "filler");
    tensor = padded(feature, tensor, filler);
  }
  if (tensor.shape().has_rank() && tensor.shape().rank() == 0) {
    invalid_argument("Feature '", key, "' must have a row for each example; got a scalar.");
  }
  tensor = with_two_dimensions(graph_, tensor);
  raw_[key] = tensor;
  return tensor;
}

Output TransformationCache::present(const std::string& key) {
  const Feature& feature = given(key);
  if (!feature.is_sparse()) return Output();
  Output& present = present_[key];
  if (!present) {
    const Output yes = graph_.scalar(DType::kBool, 1, "present");
    present =
        with_two_dimensions(graph_, padded(feature, yes, graph_.scalar(DType::kBool, 0, "absent")));
  }
  return present;
}

Output TransformationCache::transformed(const FeatureColumn& column) {
  auto known = transformed_.find(column.content());
  if (known != transformed_.end()) return known->second;
  const Output result = column.transform(*this);
  transformed_[column.content()] = result;
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
  column->set_content(content_of(spec));
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

std::string valid_scope(std::string name) {
  for (char& c : name) {
    const bool good = is_ascii_alnum(c) || c == '_' || c == '.' || c == '-';
    if (!good) c = '_';
  }
  return name;
}

}  // namespace

std::string scope_of(const FeatureColumn& column) { return valid_scope(column.scope_name()); }

std::vector<std::string> scopes_of(const std::vector<ColumnPtr>& columns) {
  std::map<std::string, std::string> scopes;
  for (const ColumnPtr& column : columns) scopes[column->scope_name()] = scope_of(*column);
  std::set<std::string> taken;
  std::vector<std::string> others;
  for (const bool is_valid : {true, false}) {
    for (const auto& scope : scopes) {
      if ((scope.first == scope.second) != is_valid) continue;
      if (!taken.insert(scope.second).second) others.push_back(scope.first);
    }
  }
  for (const std::string& name : others) {
    std::string& scope = scopes[name];
    while (!taken.insert(scope).second) scope += "_1";
  }
  std::vector<std::string> all;
  for (const ColumnPtr& column : columns) all.push_back(scopes[column->scope_name()]);
  return all;
}

namespace {

std::string type_advice(const std::string& constructor, const std::string& given, bool is_string) {
  if (constructor == "column_categorical_with_identity") {
    return "Use a column of a vocabulary or of hash buckets for strings.";
  }
  if (constructor != "column_categorical_with_vocabulary_list") {
    return str_cat("Use `dtype = tf$", given, "`.");
  }
  return is_string ? "Give the vocabulary as strings."
                   : "Give the vocabulary as integers, or make strings of the feature.";
}

}  // namespace

Output integers_or_strings(Graph& graph, Output values) {
  if (values.dtype() != DType::kBool) return values;
  return graph.op("Cast", {values}).attr("DstT", DType::kInt32);
}

Output categorical_ids(TransformationCache& cache,
                       const std::string& key,
                       const std::string& constructor,
                       const std::string& wanted,
                       const std::function<Output(Output values, bool drop_missing)>& ids_of) {
  const Feature& feature = cache.given(key);
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
  if (is_string != (wanted == "string")) {
    throw Error(Code::kInvalidArgument,
                str_cat(constructor, "(\"", key, "\") is of dtype ", wanted,
                        ", but the feature is of type ", dtype_name(values.dtype()), "."),
                {type_advice(constructor, dtype_name(values.dtype()), is_string)});
  }
  if (!feature.is_sparse()) return ids_of(values, true);
  const Output line = graph.int_vector({-1}, "Reshape/shape");
  const Output ids = graph.op("Reshape", {ids_of(values, false), line});
  const Output absent = graph.constant(Tensor::of<int64_t>(Shape{}, {kAbsentId}), "absent");
  const Output dense =
      graph.op("SparseToDense", {feature.indices, feature.dense_shape, ids, absent});
  if (dense.shape().has_rank() && dense.shape().rank() == 2) return dense;
  // Flattens to [batch, everything else], as for a dense feature.
  const Output batch = graph.op("Slice", {feature.dense_shape, graph.int_vector({0}, "begin"),
                                          graph.int_vector({1}, "size")});
  const Output rest = graph.constant(Tensor::of<int64_t>(Shape{1}, {-1}), "rest");
  const Output shape = graph.op("ConcatV2", {batch, rest, graph.scalar(DType::kInt32, 0, "axis")});
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
