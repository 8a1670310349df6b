// Numbers, optionally transformed by a function (tf.feature_column.numeric_column).
#include "columns/feature_column.h"
#include "columns/normalizing.h"
#include "columns/standardization.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

class NumericColumn : public DenseColumn {
 public:
  explicit NumericColumn(const Args& args)
      : key_(args.text("key")),
        shape_(args.has("shape") ? Shape(args.integers("shape")) : Shape{1}),
        dtype_(dtype_from_name(args.text("dtype", "float32"))),
        default_value_(args.find("default_value") ? *args.find("default_value") : Value()),
        normalizer_fn_(args.callable("normalizer_fn")),
        standardization_(args, "center", "scale", shape_.num_elements()) {
    if (!args.has("among")) return;
    basis_ = column_argument(args, "among");
    coefficients_ = args.numbers("shares");
    const auto num_basis_columns = static_cast<int64_t>(coefficients_.size()) / num_elements();
    if (num_basis_columns * num_elements() != static_cast<int64_t>(coefficients_.size())) {
      invalid_argument("`shares` must have a row of ", num_elements(),
                       " numbers for each column of `among`.");
    }
  }

  std::string name() const override { return key_; }
  std::vector<FeatureRead> reads() const override {
    FeatureRead read(key_, DType::kFloat32);
    read.example_dtype = dtype_;
    read.has_shape = true;
    read.shape = shape_;
    read.default_value = default_value_;
    read.is_normalized = normalizer_fn_ || standardization_ || basis_;
    return {read};
  }
  Shape variable_shape() const override { return shape_; }

  // Calls normalizer_fn with the tensor as it is fed, and casts the result to float32.
  Output transform(TransformationCache& cache) const override {
    Output tensor = cache.feature(key_);
    check(tensor);
    if (normalizer_fn_) {
      const NormalizerScope scope;
      const Value result = normalizer_fn_->call({Value::of(tensor)});
      if (!result.get_if<Output>()) {
        invalid_argument("The normalizer_fn of column '", key_, "' must return a tensor, not ",
                         result.kind(), ".");
      }
      tensor = *result.get_if<Output>();
    }
    if (standardization_) tensor = standardization_.apply(cache.graph(), tensor);
    if (basis_) tensor = combine_basis(cache);
    return cast(cache.graph(), tensor, DType::kFloat32);
  }

 private:
  // Computes in float64, because the result may be small compared with the values of `basis_`.
  Output combine_basis(TransformationCache& cache) const {
    Graph& graph = cache.graph();
    const Output basis = cache.transformed(*basis_);
    const NameScope scope(graph, "without_others");
    const int64_t width = num_elements();
    const Shape shape{static_cast<int64_t>(coefficients_.size()) / width, width};
    return graph.op("MatMul",
                    {basis, graph.constant(Tensor::of<double>(shape, coefficients_), "shares")});
  }

  void check(Output tensor) const {
    if (!is_numeric(tensor.dtype()) && tensor.dtype() != DType::kBool) {
      throw Error(
          Code::kInvalidArgument,
          str_cat("column_numeric(\"", key_, "\") needs numbers, but the feature is of type ",
                  dtype_name(tensor.dtype()), "."),
          {"Use a categorical column for strings."});
    }
    Shape row;
    const Shape& shape = tensor.shape();
    for (int i = 1; shape.has_rank() && i < shape.rank(); ++i) row.append(shape.dim(i));
    if (shape.has_rank() && row.is_fully_defined() && row.num_elements() != num_elements()) {
      invalid_argument("column_numeric(\"", key_, "\") has shape ", shape_,
                       ", but the feature has ", row.num_elements(),
                       row.num_elements() == 1 ? " number" : " numbers", " in each row (shape ",
                       shape, ").");
    }
  }

  std::string key_;
  Shape shape_;
  DType dtype_;
  Value default_value_;
  std::shared_ptr<Callable> normalizer_fn_;
  Standardization standardization_;  // of the normalizer's result
  // If set, the column returns a linear combination of the result of `basis_`, with
  // `coefficients_`.
  ColumnPtr basis_;
  std::vector<double> coefficients_;
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(
    NumericColumn,
    "column_numeric, feature_column.numeric_column",
    {kNameArgument, kFeatureArgument,
     "shape = c(1L): shape; kept. The shape of one row: whole numbers; `c(2, 3)` for a matrix in "
     "each row.",
     "default_value = NULL: vector; kept. The value where a feature is missing: in parsed "
     "examples, and where data have NA. A number, or one for each of `shape`.",
     "dtype = tf$float32: type or NULL; kept. `tf$float32`; the type is float32 in the model "
     "whatever the "
     "data's.",
     "normalizer_fn = NULL: function; kept. A function of a tensor that returns a tensor, run "
     "while "
     "the graph is built, or `NULL`. It sees the tensor as fed (float64 for R's doubles); the "
     "result is cast to float32.",
     "center = NULL: numbers; kept", "scale = NULL: numbers; kept", "among = NULL: column",
     "shares = NULL: numbers"},
    "Numeric features, optionally normalized.");

}  // namespace runhooks
