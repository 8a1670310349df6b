// Maps periodic numbers, such as hours or angles, to sine and cosine, so that 23:00 is close to
// 0:00.
#include "columns/feature_column.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

constexpr double kFullCircle = 6.283185307179586;

class CyclicColumn : public DenseColumn {
 public:
  explicit CyclicColumn(const Args& args)
      : key_(args.text("key")), period_(args.number("period")) {}

  std::string name() const override { return key_ + "_cyclic"; }
  std::vector<FeatureRead> reads() const override { return {FeatureRead::one_number(key_)}; }
  Shape variable_shape() const override { return Shape{2}; }

  // Computes in float64, because float32 cannot represent seconds since 1970.
  Output transform(TransformationCache& cache) const override {
    Graph& graph = cache.graph();
    const NameScope scope(graph, "cyclic");
    Output x = cache.feature(key_);
    check(x);
    x = cast(graph, x, DType::kFloat64);
    const Output num_periods =
        graph.op("RealDiv", {x, graph.scalar(DType::kFloat64, period_, "period")});
    const Output fraction = graph.op("Sub", {num_periods, graph.op("Floor", {num_periods})});
    const Output full_circle = graph.scalar(DType::kFloat64, kFullCircle, "circle");
    const Output angle = graph.op("Mul", {fraction, full_circle});
    const Output axis = graph.scalar(DType::kInt32, 1, "axis");
    const Output pair =
        graph.op("ConcatV2", {graph.op("Sin", {angle}), graph.op("Cos", {angle}), axis});
    return cast(graph, pair, DType::kFloat32);
  }

 private:
  void check(Output x) const {
    if (!is_numeric(x.dtype())) {
      invalid_argument("column_cyclic(\"", key_, "\") needs numbers, but the feature is of type ",
                       dtype_name(x.dtype()), ".");
    }
    const Shape& shape = x.shape();
    if (shape.has_rank() && shape.rank() == 2 && shape.dim(1) > 1) {
      invalid_argument("column_cyclic(\"", key_, "\") takes one number per row, not ", shape.dim(1),
                       ".");
    }
  }

  std::string key_;
  double period_;
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(
    CyclicColumn,
    "column_cyclic",
    {kNameArgument, kFeatureArgument,
     "period: plain number in (0, Inf); kept. The period: 24 for hours of a day, 360 for degrees."},
    "Sine and cosine of a periodic number.");

}  // namespace runhooks
