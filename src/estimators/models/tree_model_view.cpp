#include <algorithm>

#include "estimators/models/tree_features.h"
#include "io/checkpoint/tensor_bundle.h"

namespace runhooks {

std::vector<std::string> TreeModelView::columns() const {
  std::vector<std::string> names;
  for (const TreeFeature& feature : features) {
    if (std::find(names.begin(), names.end(), feature.name) == names.end()) {
      names.push_back(feature.name);
    }
  }
  return names;
}

std::vector<int64_t> TreeModelView::column_of_feature() const {
  const std::vector<std::string> names = columns();
  std::vector<int64_t> columns_of_features;
  for (const TreeFeature& feature : features) {
    columns_of_features.push_back(std::find(names.begin(), names.end(), feature.name) -
                                  names.begin());
  }
  return columns_of_features;
}

std::vector<double> importances(const TreeModelView& trees, Importance importance) {
  const std::vector<int64_t> column = trees.column_of_feature();
  std::vector<double> sums(trees.columns().size(), 0);
  for (const Tree& tree : trees.ensemble.trees) {
    for (const TreeNode& node : tree.nodes) {
      if (node.is_leaf()) continue;
      const int64_t column_index = column.at(static_cast<size_t>(node.feature_id));
      sums[static_cast<size_t>(column_index)] +=
          importance == Importance::kCount ? 1.0 : static_cast<double>(node.gain) * tree.weight;
    }
  }
  return sums;
}

std::shared_ptr<const TreeModelView> read_trees(std::vector<TreeFeature> features,
                                                const std::string& ensemble_key,
                                                const std::string& boundaries_prefix,
                                                const std::string& checkpoint) {
  const BundleReader reader(checkpoint);
  auto view = std::make_shared<TreeModelView>();
  const Tensor serialized = reader.read(ensemble_key);
  if (serialized.dtype() != DType::kString || serialized.num_elements() != 1) {
    fail(Code::kDataLoss, "'", ensemble_key, "' in checkpoint ", checkpoint,
         " is not a single string.");
  }
  view->ensemble = TreeEnsemble::parse(serialized.string_at(0), checkpoint);
  for (TreeFeature& feature : features) {
    if (feature.stream < 0) continue;
    const Tensor edges = reader.read(str_cat(boundaries_prefix, feature.stream));
    if (edges.dtype() != DType::kFloat32) {
      fail(Code::kDataLoss, "The boundaries of '", feature.name, "' in checkpoint ", checkpoint,
           " are not float32.");
    }
    feature.edges.assign(edges.data<float>(), edges.data<float>() + edges.num_elements());
  }
  view->features = std::move(features);
  if (view->ensemble.max_feature_id() >= static_cast<int32_t>(view->features.size())) {
    fail(Code::kDataLoss, "The trees in checkpoint ", checkpoint, " use feature ",
         view->ensemble.max_feature_id(), ", but the model has only ",
         static_cast<int64_t>(view->features.size()), " features.");
  }
  return view;
}

}  // namespace runhooks
