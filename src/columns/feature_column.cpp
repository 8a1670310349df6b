#include "columns/feature_column.h"

#include <algorithm>
#include <cctype>

namespace runhooks {

Output TransformationCache::feature(const std::string& key) {
  auto known = raw_.find(key);
  if (known != raw_.end()) return known->second;
  auto found = features_.find(key);
  if (found == features_.end()) {
    std::vector<std::string> names;
    for (const auto& entry : features_) names.push_back(entry.first);
    throw Error(Code::kNotFound, str_cat("Feature ", key, " is not in features dictionary."),
                {str_cat("The input function gives: ", str_join(names, ", "), ".")});
  }
  Output feature = found->second;
  if (feature.shape().has_rank() && feature.shape().rank() == 0) {
    invalid_argument("Feature '", key, "' must have a row for each example; got a scalar.");
  }
  if (feature.shape().has_rank() && feature.shape().rank() == 1) {
    feature =
        graph_.op("ExpandDims", {feature, graph_.scalar(DType::kInt32, -1, "ExpandDims/dim")});
  }
  raw_[key] = feature;
  return feature;
}

Output TransformationCache::transformed(const FeatureColumn& column) {
  auto known = transformed_.find(column.name());
  if (known != transformed_.end()) return known->second;
  const Output result = column.transform(*this);
  transformed_[column.name()] = result;
  return result;
}

ColumnPtr make_column(const Args& spec) {
  return Factory<FeatureColumn>::instance().make("feature column", spec.text("type"), spec);
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
    invalid_argument("`", name, "` must be a categorical column; '", column->name(), "' is none.");
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
          {"The variables of a column have its name: two columns of one name would share "
           "them. Leave one out, or call the feature of one otherwise."});
    }
  }
  return columns;
}

std::string scope_of(const FeatureColumn& column) {
  std::string name = column.scope_name();
  for (char& c : name) {
    const bool good =
        std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
    if (!good) c = '_';
  }
  return name;
}

namespace {

std::string type_advice(const std::string& constructor, const std::string& given, bool is_string) {
  if (constructor == "column_categorical_with_identity") {
    return "Use a column of a vocabulary or of hash buckets for strings.";
  }
  if (constructor != "column_categorical_with_vocabulary_list") {
    return str_cat("Say `dtype = tf$", given, "`.");
  }
  return is_string ? "Give the vocabulary as strings."
                   : "Give the vocabulary as integers, or make strings of the feature.";
}

}  // namespace

Output categorical_feature(TransformationCache& cache,
                           const std::string& key,
                           const std::string& constructor,
                           const std::string& wanted) {
  Output feature = cache.feature(key);
  if (feature.dtype() == DType::kBool) {
    feature = cache.graph().op("Cast", {feature}).attr("DstT", DType::kInt32);
  }
  const bool is_string = feature.dtype() == DType::kString;
  if (!is_string && !is_integer(feature.dtype())) {
    throw Error(Code::kInvalidArgument,
                str_cat(constructor, "(\"", key,
                        "\") needs strings or integers, but the feature is of type ",
                        dtype_name(feature.dtype()), "."),
                {"Use column_bucketized() for numbers, or make integers of them."});
  }
  if (is_string != (wanted == "string")) {
    throw Error(Code::kInvalidArgument,
                str_cat(constructor, "(\"", key, "\") is of dtype ", wanted,
                        ", but the feature is of type ", dtype_name(feature.dtype()), "."),
                {type_advice(constructor, dtype_name(feature.dtype()), is_string)});
  }
  return feature;
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
