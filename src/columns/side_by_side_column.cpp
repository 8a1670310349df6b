// Concatenates numeric features, standardized in float64 and centred within the levels of factors.
// Columns that are orthogonalized against other terms read from it.
#include "columns/feature_column.h"
#include "columns/standardization.h"

namespace runhooks {

namespace {

class SideBySideColumn : public FeatureColumn {
 public:
  explicit SideBySideColumn(const Args& args)
      : keys_(args.texts("keys")),
        widths_(args.integers("widths")),
        standardization_(args, "center", "scale", total(widths_)) {
    if (keys_.size() != widths_.size()) {
      invalid_argument("`keys` and `widths` must have equal lengths.");
    }
    if (args.has("words")) read_factors(args);
  }
  std::string name() const override { return str_join(keys_, ", "); }
  std::vector<FeatureRead> reads() const override {
    std::vector<FeatureRead> all;
    for (size_t i = 0; i < keys_.size(); ++i) {
      FeatureRead read(keys_[i], DType::kFloat32);
      read.has_shape = true;
      read.shape = Shape{widths_[i]};
      read.is_normalized = true;
      all.push_back(read);
    }
    for (const auto& words : words_) {
      for (const FeatureRead& read : words->reads()) all.push_back(read);
    }
    return all;
  }
  Output transform(TransformationCache& cache) const override {
    Graph& graph = cache.graph();
    const NameScope scope(graph, "side_by_side");
    std::vector<Output> parts;
    for (size_t i = 0; i < keys_.size(); ++i) {
      const Output wide = graph.op("Cast", {cache.feature(keys_[i])}).attr("DstT", DType::kFloat64);
      const auto width = static_cast<int32_t>(widths_[i]);
      parts.push_back(graph.op("Reshape", {wide, graph.int_vector({-1, width})}));
    }
    Output all = parts[0];
    if (parts.size() > 1) {
      parts.push_back(graph.scalar(DType::kInt32, 1, "axis"));
      all = graph.op("ConcatV2", parts);
    }
    all = standardization_.apply(graph, all);
    for (size_t i = 0; i < words_.size(); ++i) {
      const Output table = graph.constant(means_[i], "means");
      const IdsAndWeights ids{cache.transformed(*words_[i]), Output()};
      all = graph.op("Sub", {all, combined_rows(graph, {table}, ids, "sum")});
    }
    return all;
  }

 private:
  // `means` holds one table per factor, concatenated, with a row per level.
  void read_factors(const Args& args) {
    const Value* specs = args.find("words");
    const auto* list = specs->get_if<std::shared_ptr<ValueList>>();
    if (!list) invalid_argument("`words` must be categorical columns.");
    const std::vector<double> means = args.numbers("means");
    const int64_t width = total(widths_);
    auto next = means.begin();
    for (const ColumnPtr& column : make_columns(**list)) {
      const auto words = std::dynamic_pointer_cast<const CategoricalColumn>(column);
      if (!words) invalid_argument("`words` must be categorical columns.");
      const int64_t size = words->num_buckets() * width;
      if (means.end() - next < size) invalid_argument("`means` must have a row for each level.");
      means_.push_back(Tensor::of<double>(Shape{words->num_buckets(), width},
                                          std::vector<double>(next, next + size)));
      next += size;
      words_.push_back(words);
    }
    if (next != means.end()) invalid_argument("`means` must have a row for each level.");
  }
  static int64_t total(const std::vector<int64_t>& widths) {
    int64_t sum = 0;
    for (const int64_t width : widths) sum += width;
    return sum;
  }
  std::vector<std::string> keys_;
  std::vector<int64_t> widths_;
  Standardization standardization_;
  std::vector<std::shared_ptr<const CategoricalColumn>> words_;
  std::vector<Tensor> means_;  // of the numbers, by level
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(SideBySideColumn,
                         "",
                         {kNameArgument, "keys: words", "widths: vector", "center: numbers",
                          "scale: numbers", "words = NULL: columns", "means = NULL: numbers"});

}  // namespace runhooks
