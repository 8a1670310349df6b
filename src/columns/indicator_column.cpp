// Counts the occurrences of each id (tf.feature_column.indicator_column).
#include "columns/bucketed_column.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

class IndicatorColumn : public DenseColumn, public BucketedColumn {
 public:
  // Accepts a string instead of a column, as in the help of the R package tfestimators. Throws only
  // when the column is used.
  explicit IndicatorColumn(const Args& args) : args_(args) {
    const Value* column = args.find("categorical_column");
    if (column && column->get_if<std::string>()) {
      name_ = *column->get_if<std::string>();
    } else {
      categorical_column_ = categorical_argument(args, "categorical_column");
      name_ = categorical_column_->name();
    }
  }

  std::string name() const override { return name_ + "_indicator"; }
  std::vector<FeatureRead> reads() const override { return categorical().reads(); }
  Shape variable_shape() const override { return Shape{categorical().num_buckets()}; }
  Output transform(TransformationCache& cache) const override {
    const IdsAndWeights ids = categorical().ids_and_weights(cache);
    std::vector<Output> inputs = {ids.ids};
    if (ids.weights) inputs.push_back(ids.weights);
    return cache.graph()
        .op("MultiHot", inputs)
        .attr("depth", categorical().num_buckets())
        .attr("T", DType::kFloat32);
  }

  int64_t buckets() const override { return 2; }
  int64_t elements() const override { return categorical().num_buckets(); }
  bool is_multi_hot() const override { return true; }
  std::string element_name(int64_t element) const override {
    const auto* named_buckets = dynamic_cast<const NamedBuckets*>(&categorical());
    const std::string label = named_buckets ? named_buckets->bucket_name(element) : "";
    return label.empty() ? str_cat(element) : label;
  }
  std::string feature_name() const override { return categorical().name(); }
  Output bucket_tensor(TransformationCache& cache) const override {
    Graph& graph = cache.graph();
    const Output counts = cast(graph, cache.transformed(*this), DType::kInt32);
    return graph.op("Minimum", {counts, graph.scalar(DType::kInt32, 1, "one")});
  }

 private:
  const CategoricalColumn& categorical() const {
    // Throws if the argument is a string instead of a column.
    if (!categorical_column_) categorical_argument(args_, "categorical_column");
    return *categorical_column_;
  }
  Args args_;
  std::string name_;
  std::shared_ptr<const CategoricalColumn> categorical_column_;
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(
    IndicatorColumn,
    "column_indicator, feature_column.indicator_column",
    {kNameArgument,
     "categorical_column: column or name; kept. A [categorical column][categorical_columns]."},
    "Multi-hot encoding of a categorical column.");

}  // namespace runhooks
