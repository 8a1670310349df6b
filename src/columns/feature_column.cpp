#include "columns/feature_column.h"

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

std::vector<ColumnPtr> make_columns(const ValueList& specs) {
  std::vector<ColumnPtr> columns;
  for (const Value& spec : specs) {
    const auto* args = spec.get_if<std::shared_ptr<Args>>();
    if (!args) invalid_argument("A feature column is expected, not ", spec.kind(), ".");
    columns.push_back(make_column(**args));
  }
  return columns;
}

}  // namespace runhooks
