// Maps numbers to the interval between boundaries that contains them
// (tf.feature_column.bucketized_column).
#include "columns/bucketed_column.h"

namespace runhooks {

namespace {

class BucketizedColumn : public DenseColumn, public CategoricalColumn, public BucketedColumn {
 public:
  explicit BucketizedColumn(const Args& args)
      : source_column_(column_argument(args, "source_column")) {
    numeric_column_ = std::dynamic_pointer_cast<const DenseColumn>(source_column_);
    const bool is_numeric =
        numeric_column_ && !std::dynamic_pointer_cast<const CategoricalColumn>(source_column_);
    if (!is_numeric || source_column_->name() != source_column_->feature_keys()[0]) {
      invalid_argument("`source_column` of column_bucketized() must be a numeric column; '",
                       source_column_->name(), "' is not.");
    }
    read_boundaries(args);
  }

  std::string name() const override { return source_column_->name() + "_bucketized"; }
  std::vector<FeatureRead> reads() const override { return source_column_->reads(); }
  int64_t num_buckets() const override { return buckets() * elements(); }
  Shape variable_shape() const override {
    Shape shape = numeric_column_->variable_shape();
    shape.append(buckets());
    return shape;
  }

  Output transform(TransformationCache& cache) const override {
    return cache.graph()
        .op("BucketIds", {cache.transformed(*source_column_)})
        .attr("boundaries", boundaries_);
  }
  Output dense_tensor(TransformationCache& cache, ColumnVariables&) const override {
    return cache.graph()
        .op("MultiHot", {cache.transformed(*this)})
        .attr("depth", num_buckets())
        .attr("T", DType::kFloat32);
  }

  int64_t buckets() const override { return static_cast<int64_t>(boundaries_.size()) + 1; }
  int64_t elements() const override { return numeric_column_->num_elements(); }
  bool is_multi_hot() const override { return false; }
  std::vector<float> edges() const override { return boundaries_; }
  std::string feature_name() const override { return name(); }
  Output bucket_tensor(TransformationCache& cache) const override {
    Graph& graph = cache.graph();
    const std::vector<int64_t> flat_shape = {-1, elements()};
    const Output shape = graph.constant(Tensor::vector<int64_t>(flat_shape), "shape");
    const Output flat = graph.op("Reshape", {cache.transformed(*source_column_), shape});
    return graph.op("Bucketize", {flat}).attr("boundaries", boundaries_);
  }

 private:
  void read_boundaries(const Args& args) {
    double x;
    const Value* value = args.find("boundaries");
    if (value && value_number(*value, &x)) {
      boundaries_ = {static_cast<float>(x)};
      return;
    }
    double previous = 0;
    for (const Value& item : args.list("boundaries")) {
      if (!value_number(item, &x)) {
        invalid_argument("`boundaries` of column '", name(), "' must be numbers, not ", item.kind(),
                         ".");
      }
      if (!boundaries_.empty() && !(x > previous)) {
        invalid_argument("boundaries must be a sorted list: in column '", name(), "' boundary ",
                         boundaries_.size() + 1, " is ", x, ", but the previous one is ", previous,
                         ".");
      }
      previous = x;
      boundaries_.push_back(static_cast<float>(x));
    }
    if (boundaries_.empty()) {
      invalid_argument("boundaries must not be empty (column '", name(), "').");
    }
  }

  ColumnPtr source_column_;
  std::shared_ptr<const DenseColumn> numeric_column_;
  std::vector<float> boundaries_;
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(
    BucketizedColumn,
    "column_bucketized, feature_column.bucketized_column",
    {kNameArgument, "source_column: column; kept. A [column_numeric()].",
     "boundaries: numbers; kept. Increasing numbers. Boundaries are compared as "
     "float32."},
    "Buckets of a numeric column, given by boundaries.");

}  // namespace runhooks
