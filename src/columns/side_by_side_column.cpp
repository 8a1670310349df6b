// Concatenates numeric features in float64, standardizes them, and subtracts their means within the
// levels of factors. Columns that are orthogonalized against other terms of a formula are linear
// combinations of its result.
#include "columns/feature_column.h"
#include "columns/standardization.h"

namespace runhooks {

namespace {

class SideBySideColumn : public FeatureColumn {
 public:
  explicit SideBySideColumn(const Args& args)
      : keys_(args.texts("keys")),
        widths_(args.integers("widths")),
        standardization_(args, "center", "scale", sum_of_widths(widths_)) {
    if (keys_.size() != widths_.size()) {
      invalid_argument("`keys` and `widths` must have equal lengths.");
    }
    if (args.has("words")) read_factors(args);
  }
  std::string name() const override { return str_join(keys_, ", "); }
  std::vector<FeatureRead> reads() const override {
    std::vector<FeatureRead> result;
    for (size_t i = 0; i < keys_.size(); ++i) {
      FeatureRead read(keys_[i], DType::kFloat32);
      read.has_shape = true;
      read.shape = Shape{widths_[i]};
      read.is_normalized = true;
      result.push_back(read);
    }
    for (const auto& factor : factors_) {
      for (const FeatureRead& read : factor->reads()) result.push_back(read);
    }
    return result;
  }
  Output transform(TransformationCache& cache) const override {
    Graph& graph = cache.graph();
    const NameScope scope(graph, "side_by_side");
    std::vector<Output> matrices;
    for (size_t i = 0; i < keys_.size(); ++i) {
      const Output float64_feature =
          graph.op("Cast", {cache.feature(keys_[i])}).attr("DstT", DType::kFloat64);
      const auto width = static_cast<int32_t>(widths_[i]);
      matrices.push_back(graph.op("Reshape", {float64_feature, graph.int_vector({-1, width})}));
    }
    Output combined = matrices[0];
    if (matrices.size() > 1) {
      matrices.push_back(graph.scalar(DType::kInt32, 1, "axis"));
      combined = graph.op("ConcatV2", matrices);
    }
    combined = standardization_.apply(graph, combined);
    for (size_t i = 0; i < factors_.size(); ++i) {
      const Output table = graph.constant(level_means_[i], "means");
      const IdsAndWeights ids{cache.transformed(*factors_[i]), Output()};
      combined = graph.op("Sub", {combined, combined_rows(graph, {table}, ids, "sum")});
    }
    return combined;
  }

 private:
  // Reads the categorical columns `words` and the argument `means`. `means` contains one table per
  // column, one after another. A table has a row for each level of its column.
  void read_factors(const Args& args) {
    const Value* factor_specs = args.find("words");
    const auto* list = factor_specs->get_if<std::shared_ptr<ValueList>>();
    if (!list) invalid_argument("`words` must be categorical columns.");
    const std::vector<double> means = args.numbers("means");
    const int64_t width = sum_of_widths(widths_);
    auto next = means.begin();
    for (const ColumnPtr& column : make_columns(**list)) {
      const auto factor = std::dynamic_pointer_cast<const CategoricalColumn>(column);
      if (!factor) invalid_argument("`words` must be categorical columns.");
      const int64_t size = factor->num_buckets() * width;
      if (means.end() - next < size) invalid_argument("`means` must have a row for each level.");
      level_means_.push_back(Tensor::of<double>(Shape{factor->num_buckets(), width},
                                                std::vector<double>(next, next + size)));
      next += size;
      factors_.push_back(factor);
    }
    if (next != means.end()) invalid_argument("`means` must have a row for each level.");
  }
  static int64_t sum_of_widths(const std::vector<int64_t>& widths) {
    int64_t sum = 0;
    for (const int64_t width : widths) sum += width;
    return sum;
  }
  std::vector<std::string> keys_;
  std::vector<int64_t> widths_;
  Standardization standardization_;
  std::vector<std::shared_ptr<const CategoricalColumn>> factors_;
  std::vector<Tensor> level_means_;  // for each factor, the means of the numbers in each level
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(SideBySideColumn,
                         "",
                         {kNameArgument, "keys: words", "widths: vector", "center: numbers",
                          "scale: numbers", "words = NULL: columns", "means = NULL: numbers"});

}  // namespace runhooks
