// Ids with weights from another feature (tf.feature_column.weighted_categorical_column).
#include "columns/feature_column.h"
#include "columns/standardization.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

class WeightedCategoricalColumn : public CategoricalColumn {
 public:
  explicit WeightedCategoricalColumn(const Args& args)
      : categorical_column_(categorical_argument(args, "categorical_column")),
        weight_key_(args.text("weight_feature_key")),
        dtype_(dtype_from_name(args.text("dtype", "float32"))),
        standardization_(args, "center", "scale", 1) {
    if (!args.has("among")) return;
    basis_ = column_argument(args, "among");
    const std::vector<double> coefficients = args.numbers("shares");
    const auto size = static_cast<int64_t>(coefficients.size());
    const int64_t width = size / categorical_column_->num_buckets();
    if (width == 0 || width * categorical_column_->num_buckets() != size) {
      invalid_argument("`shares` must have a row for each level.");
    }
    coefficients_ =
        Tensor::of<double>(Shape{categorical_column_->num_buckets(), width}, coefficients);
  }

  std::string name() const override {
    return categorical_column_->name() + "_weighted_by_" + weight_key_;
  }
  std::vector<FeatureRead> reads() const override {
    std::vector<FeatureRead> result = categorical_column_->reads();
    result.emplace_back(weight_key_, dtype_);
    result.back().example_dtype = dtype_;
    result.back().is_weight = true;
    result.back().is_normalized = standardization_ || basis_;
    return result;
  }
  int64_t num_buckets() const override { return categorical_column_->num_buckets(); }
  bool can_be_crossed() const override { return false; }
  Output transform(TransformationCache& cache) const override {
    return categorical_column_->ids_and_weights(cache).ids;
  }
  IdsAndWeights ids_and_weights(TransformationCache& cache) const override {
    Output weights = cache.feature(weight_key_);
    if (!is_numeric(weights.dtype())) {
      invalid_argument("The weights of column '", name(), "' must be numbers, but feature '",
                       weight_key_, "' is of type ", dtype_name(weights.dtype()), ".");
    }
    if (standardization_) weights = standardization_.apply(cache.graph(), weights);
    if (basis_) weights = combine_basis(cache);
    weights = cast(cache.graph(), weights, DType::kFloat32);
    const Output ids = cache.transformed(*categorical_column_);
    check_widths(ids.shape(), weights.shape());
    return {ids, weights};
  }

 private:
  // Computes, in float64, the linear combination of `basis_` whose coefficients are those of the
  // row's level.
  Output combine_basis(TransformationCache& cache) const {
    Graph& graph = cache.graph();
    const Output basis = cache.transformed(*basis_), ids = cache.transformed(*categorical_column_);
    const NameScope scope(graph, "without_others");
    const Output table = graph.constant(coefficients_, "shares");
    const Output coefficients = combined_rows(graph, {table}, {ids, Output()}, "sum");
    const Output sums =
        graph.op("Sum", {graph.op("Mul", {basis, coefficients}), graph.int_vector({1})});
    return graph.op("Reshape", {sums, graph.int_vector({-1, 1})});
  }

  void check_widths(const Shape& ids, const Shape& weights) const {
    if (!ids.has_rank() || !weights.has_rank() || ids.rank() != 2 || weights.rank() != 2) return;
    const int64_t n = ids.dim(1), m = weights.dim(1);
    if (n == m || n == Shape::kUnknownDim || m == Shape::kUnknownDim) return;
    invalid_argument("Column '", name(),
                     "' needs as many weights as ids in each row, but feature '", weight_key_,
                     "' has ", m, " and column '", categorical_column_->name(), "' ", n, ".");
  }

  std::shared_ptr<const CategoricalColumn> categorical_column_;
  std::string weight_key_;
  DType dtype_;
  Standardization standardization_;  // of the weights
  // If set, a linear combination of the result of `basis_` replaces the weights. `coefficients_`
  // has a row for each level.
  ColumnPtr basis_;
  Tensor coefficients_;
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(
    WeightedCategoricalColumn,
    "column_categorical_weighted, feature_column.weighted_categorical_column",
    {kNameArgument,
     "categorical_column: column; kept. A [categorical column][categorical_columns].",
     "weight_feature_key: string; kept. Name of the feature with the weights, one per id in "
     "each row. A weight of 0 drops the id.",
     "dtype = tf$float32: type or NULL; kept. `tf$float32`; R's doubles are cast.",
     "center = NULL: numbers; kept", "scale = NULL: numbers; kept", "among = NULL: column",
     "shares = NULL: numbers"},
    "Categorical ids with weights.");

}  // namespace runhooks
