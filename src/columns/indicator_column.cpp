// How often each id is there (tf.feature_column.indicator_column).
#include "columns/feature_column.h"

namespace runhooks {

namespace {

class IndicatorColumn : public DenseColumn {
 public:
  explicit IndicatorColumn(const Args& args)
      : column_(categorical_argument(args, "categorical_column")) {}

  std::string name() const override { return column_->name() + "_indicator"; }
  std::vector<FeatureRead> reads() const override { return column_->reads(); }
  Shape variable_shape() const override { return Shape{column_->num_buckets()}; }
  Output transform(TransformationCache& cache) const override {
    const IdsAndWeights ids = column_->ids_and_weights(cache);
    std::vector<Output> inputs = {ids.ids};
    if (ids.weights) inputs.push_back(ids.weights);
    return cache.graph()
        .op("MultiHot", inputs)
        .attr("depth", column_->num_buckets())
        .attr("T", DType::kFloat32);
  }

 private:
  std::shared_ptr<const CategoricalColumn> column_;
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(IndicatorColumn, "indicator_column", "column_indicator");

}  // namespace runhooks
