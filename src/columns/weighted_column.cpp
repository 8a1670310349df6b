// Ids with weights from another feature (tf.feature_column.weighted_categorical_column).
#include "columns/feature_column.h"
#include "columns/standardization.h"

namespace runhooks {

namespace {

class WeightedCategoricalColumn : public CategoricalColumn {
 public:
  explicit WeightedCategoricalColumn(const Args& args)
      : column_(categorical_argument(args, "categorical_column")),
        weights_(args.text("weight_feature_key")),
        dtype_(dtype_from_name(args.text("dtype", "float32"))),
        standardization_(args, "center", "scale", 1) {}

  std::string name() const override { return column_->name() + "_weighted_by_" + weights_; }
  std::vector<FeatureRead> reads() const override {
    std::vector<FeatureRead> all = column_->reads();
    all.emplace_back(weights_, dtype_);
    all.back().example_dtype = dtype_;
    all.back().is_weight = true;
    all.back().is_normalized = static_cast<bool>(standardization_);
    return all;
  }
  int64_t num_buckets() const override { return column_->num_buckets(); }
  bool can_be_crossed() const override { return false; }
  Output transform(TransformationCache& cache) const override {
    return column_->ids_and_weights(cache).ids;
  }
  IdsAndWeights ids_and_weights(TransformationCache& cache) const override {
    Output weights = cache.feature(weights_);
    if (!is_numeric(weights.dtype())) {
      invalid_argument("The weights of column '", name(), "' must be numbers, but feature '",
                       weights_, "' is of type ", dtype_name(weights.dtype()), ".");
    }
    if (standardization_) weights = standardization_.apply(cache.graph(), weights);
    if (weights.dtype() != DType::kFloat32) {
      weights = cache.graph().op("Cast", {weights}).attr("DstT", DType::kFloat32);
    }
    const Output ids = cache.transformed(*column_);
    check_widths(ids.shape(), weights.shape());
    return {ids, weights};
  }

 private:
  void check_widths(const Shape& ids, const Shape& weights) const {
    if (!ids.has_rank() || !weights.has_rank() || ids.rank() != 2 || weights.rank() != 2) return;
    const int64_t n = ids.dim(1), m = weights.dim(1);
    if (n == m || n == Shape::kUnknownDim || m == Shape::kUnknownDim) return;
    invalid_argument("Column '", name(),
                     "' needs as many weights as ids in each row, but feature '", weights_,
                     "' has ", m, " and column '", column_->name(), "' ", n, ".");
  }

  std::shared_ptr<const CategoricalColumn> column_;
  std::string weights_;
  DType dtype_;
  Standardization standardization_;  // of the weights
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(
    WeightedCategoricalColumn,
    "column_categorical_weighted, feature_column.weighted_categorical_column",
    {kNameArgument,
     "categorical_column: column; kept. A [categorical column][categorical_columns].",
     "weight_feature_key: string; kept. The name of the feature of weights, which has as many "
     "values in each row as the categorical one. A weight of 0 leaves its id out.",
     "dtype = tf$float32: type or NULL; kept. `tf$float32`; R's doubles are cast.",
     "center = NULL: numbers; kept", "scale = NULL: numbers; kept"},
    "The ids of another column with weights.");

}  // namespace runhooks
