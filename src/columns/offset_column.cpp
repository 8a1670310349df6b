// Adds a number per example to the logits of a linear model, without a weight: offset() in an R
// formula.
#include "columns/linear_model.h"
#include "columns/standardization.h"

namespace runhooks {

namespace {

class OffsetColumn : public UnweightedColumn {
 public:
  explicit OffsetColumn(const Args& args)
      : key_(args.text("key")),
        standardization_(
            args, "center", "scale", static_cast<int64_t>(args.numbers("scale").size())) {}

  std::string name() const override { return key_; }
  std::vector<FeatureRead> reads() const override { return {FeatureRead::one_number(key_)}; }
  Output transform(TransformationCache& cache) const override {
    Graph& graph = cache.graph();
    const Output column = graph.op("Reshape", {cache.feature(key_), graph.int_vector({-1, 1})});
    return graph.op("Cast", {standardization_.apply(graph, column)})
        .attr("DstT", DType::kFloat32)
        .named("offset");
  }

 private:
  std::string key_;
  Standardization standardization_;  // to the scale of the logits of each unit
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(OffsetColumn,
                         "",
                         {kNameArgument, "key: string; kept", "center: numbers; kept",
                          "scale: numbers; kept"});

}  // namespace runhooks
