// Several features of numbers side by side, standardized in float64: what numeric columns that count
// without what others say already are made of.
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
      invalid_argument("`keys` and `widths` must have as many elements.");
    }
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
    if (parts.size() == 1) return standardization_.apply(graph, parts[0]);
    parts.push_back(graph.scalar(DType::kInt32, 1, "axis"));
    return standardization_.apply(graph, graph.op("ConcatV2", parts));
  }

 private:
  static int64_t total(const std::vector<int64_t>& widths) {
    int64_t sum = 0;
    for (const int64_t width : widths) sum += width;
    return sum;
  }
  std::vector<std::string> keys_;
  std::vector<int64_t> widths_;
  Standardization standardization_;
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(SideBySideColumn,
                         "",
                         {kNameArgument, "keys: words", "widths: vector", "center: numbers", "scale: numbers"});

}  // namespace runhooks
