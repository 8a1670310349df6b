// Ops that parse serialized examples: a batch (ParseExample, ParseExampleV2) or a single one.
#include <algorithm>

#include "data/example_parser.h"
#include "graph/op_registry.h"

namespace runhooks {

namespace {

using Kind = ParsedFeature::Kind;

// Base class of the kernels. The outputs are the indices, values and shapes of sparse features, the
// values of dense features, and the values and row splits of ragged features.
class ParseKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    parser_.begin(features(c));
    const Tensor& serialized = c.input(0);
    is_single_ = serialized.shape().rank() == 0;
    for (int64_t i = 0; i < serialized.num_elements(); ++i) {
      parser_.add(serialized.string_at(i), example_name(c, i));
    }
    int output = 0;
    for_each(Kind::kSparse, [&](size_t i) { write_indices(c, output++, i); });
    for_each(Kind::kSparse, [&](size_t i) { write_values(c, output++, i); });
    for_each(Kind::kSparse, [&](size_t i) { write_shape(c, output++, i); });
    for_each(Kind::kDense, [&](size_t i) { write_values(c, output++, i); });
    for_each(Kind::kRagged, [&](size_t i) { write_values(c, output++, i); });
    for_each(Kind::kRagged, [&](size_t i) { write_splits(c, output++, i); });
  }

 protected:
  virtual std::vector<ParsedFeature> features(KernelContext& c) const = 0;
  virtual std::string example_name(KernelContext&, int64_t) const { return ""; }

  static ParsedFeature sparse(const std::string& key, DType dtype) {
    ParsedFeature feature;
    feature.key = key;
    feature.dtype = dtype;
    return feature;
  }
  static ParsedFeature dense(const std::string& key,
                             const Tensor& default_value,
                             const Shape& shape) {
    ParsedFeature feature;
    feature.kind = Kind::kDense;
    feature.key = key;
    feature.dtype = default_value.dtype();
    feature.shape = shape;
    feature.default_value = default_value;
    return feature;
  }

 private:
  template <typename Visit>
  void for_each(Kind kind, Visit visit) {
    for (size_t i = 0; i < parser_.features().size(); ++i) {
      if (parser_.features()[i].kind == kind) visit(i);
    }
  }
  void write_values(KernelContext& c, int output, size_t i) {
    const DType dtype = parser_.features()[i].dtype;
    Tensor& out = c.allocate_output(output, dtype, parser_.values_shape(i, is_single_));
    parser_.write_values(i, out);
  }
  void write_indices(KernelContext& c, int output, size_t i) {
    const ParsedFeature& feature = parser_.features()[i];
    const Shape shape{feature.num_values(), is_single_ ? 1 : 2};
    auto* out = c.allocate_output(output, DType::kInt64, shape).data<int64_t>();
    for (size_t row = 0; row < feature.counts.size(); ++row) {
      for (int64_t k = 0; k < feature.counts[row]; ++k) {
        if (!is_single_) *out++ = static_cast<int64_t>(row);
        *out++ = k;
      }
    }
  }
  void write_shape(KernelContext& c, int output, size_t i) {
    auto* out = c.allocate_output(output, DType::kInt64, Shape{is_single_ ? 1 : 2}).data<int64_t>();
    if (!is_single_) *out++ = parser_.num_examples();
    *out = parser_.features()[i].max_count();
  }
  void write_splits(KernelContext& c, int output, size_t i) {
    const ParsedFeature& feature = parser_.features()[i];
    const DType dtype = c.op().output_dtype(output);
    const auto n = static_cast<int64_t>(feature.counts.size());
    Tensor& out = c.allocate_output(output, dtype, Shape{is_single_ ? 0 : n + 1});
    int64_t end = 0;
    for (int64_t row = 0; !is_single_ && row <= n; ++row) {
      if (dtype == DType::kInt64) out.data<int64_t>()[row] = end;
      if (dtype == DType::kInt32) out.data<int32_t>()[row] = static_cast<int32_t>(end);
      if (row < n) end += feature.counts[static_cast<size_t>(row)];
    }
  }

  ExampleParser parser_;
  bool is_single_ = false;
};

// Returns the name of example i. `names` is empty or has a name for each example.
std::string name_at(const Tensor& names, const Tensor& serialized, int64_t i) {
  if (names.num_elements() == 0) return "";
  if (names.num_elements() != serialized.num_elements()) {
    invalid_argument("Expected len(names) == len(serialized), but got: ", names.num_elements(),
                     " vs. ", serialized.num_elements(), ".");
  }
  return names.string_at(i);
}

// Inputs: serialized, names, sparse_keys..., dense_keys..., dense_defaults...
class ParseExampleKernel : public ParseKernel {
 protected:
  std::vector<ParsedFeature> features(KernelContext& c) const override {
    const auto& sparse_types = c.op().attr<std::vector<DType>>("sparse_types");
    const auto& shapes = c.op().attr<std::vector<Shape>>("dense_shapes");
    std::vector<ParsedFeature> result;
    int input = 2;
    for (const DType dtype : sparse_types)
      result.push_back(sparse(c.input(input++).string_at(0), dtype));
    const auto n = static_cast<int>(shapes.size());
    for (int i = 0; i < n; ++i) {
      result.push_back(dense(c.input(input + i).string_at(0), c.input(input + n + i),
                             shapes[static_cast<size_t>(i)]));
    }
    return result;
  }
  std::string example_name(KernelContext& c, int64_t i) const override {
    return name_at(c.input(1), c.input(0), i);
  }
};

// Inputs: serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults...
class ParseExampleV2Kernel : public ParseKernel {
 protected:
  std::vector<ParsedFeature> features(KernelContext& c) const override {
    const auto& sparse_types = c.op().attr<std::vector<DType>>("sparse_types");
    const auto& ragged_types = c.op().attr<std::vector<DType>>("ragged_value_types");
    const auto& shapes = c.op().attr<std::vector<Shape>>("dense_shapes");
    check_keys(c.input(2), sparse_types.size(), "sparse_keys");
    check_keys(c.input(3), shapes.size(), "dense_keys");
    check_keys(c.input(4), ragged_types.size(), "ragged_keys");
    std::vector<ParsedFeature> result;
    for (size_t i = 0; i < sparse_types.size(); ++i) {
      result.push_back(sparse(c.input(2).string_at(static_cast<int64_t>(i)), sparse_types[i]));
    }
    for (size_t i = 0; i < shapes.size(); ++i) {
      const std::string& key = c.input(3).string_at(static_cast<int64_t>(i));
      result.push_back(dense(key, c.input(5 + static_cast<int>(i)), shapes[i]));
    }
    for (size_t i = 0; i < ragged_types.size(); ++i) {
      result.push_back(sparse(c.input(4).string_at(static_cast<int64_t>(i)), ragged_types[i]));
      result.back().kind = Kind::kRagged;
    }
    return result;
  }
  std::string example_name(KernelContext& c, int64_t i) const override {
    return name_at(c.input(1), c.input(0), i);
  }

 private:
  static void check_keys(const Tensor& keys, size_t expected_size, const char* input_name) {
    if (keys.num_elements() == static_cast<int64_t>(expected_size)) return;
    invalid_argument("Expected ", expected_size, " ", input_name, ", but got ", keys.num_elements(),
                     ".");
  }
};

class ParseSingleExampleKernel : public ParseKernel {
 protected:
  std::vector<ParsedFeature> features(KernelContext& c) const override {
    const auto& sparse_types = c.op().attr<std::vector<DType>>("sparse_types");
    const auto& sparse_keys = c.op().attr<std::vector<std::string>>("sparse_keys");
    const auto& dense_keys = c.op().attr<std::vector<std::string>>("dense_keys");
    const auto& shapes = c.op().attr<std::vector<Shape>>("dense_shapes");
    std::vector<ParsedFeature> result;
    for (size_t i = 0; i < sparse_keys.size(); ++i) {
      result.push_back(sparse(sparse_keys[i], sparse_types[i]));
    }
    for (size_t i = 0; i < dense_keys.size(); ++i) {
      result.push_back(dense(dense_keys[i], c.input(1 + static_cast<int>(i)), shapes[i]));
    }
    return result;
  }
};

void check_lengths(const Operation& op, const char* attr, size_t size, size_t expected_size) {
  if (size == expected_size) return;
  invalid_argument("Op '", op.type(), "': attribute '", attr, "' has ", size, " elements, not ",
                   expected_size, ".");
}

void check_types(const Operation& op, const char* attr, const std::vector<DType>& allowed) {
  for (const DType dtype : op.attr<std::vector<DType>>(attr)) {
    if (std::find(allowed.begin(), allowed.end(), dtype) != allowed.end()) continue;
    invalid_argument("Op '", op.type(), "': attribute '", attr, "' cannot be ", dtype_name(dtype),
                     ".");
  }
}

// Types of values that a tf.train.Example can hold.
const std::vector<DType> kExampleTypes = {DType::kFloat32, DType::kInt64, DType::kString};

// Sets the shapes of the outputs for these numbers of sparse and ragged features. `batch` is the
// shape of the input `serialized`.
void set_shapes(ShapeContext& c, const Shape& batch, size_t num_sparse, size_t num_ragged) {
  const auto& shapes = c.op().attr<std::vector<Shape>>("dense_shapes");
  check_types(c.op(), "sparse_types", kExampleTypes);
  check_types(c.op(), "Tdense", kExampleTypes);
  const bool is_single = batch.has_rank() && batch.rank() == 0;
  const int64_t rank = !batch.has_rank() ? Shape::kUnknownDim : is_single ? 1 : 2;
  int output = 0;
  for (size_t i = 0; i < num_sparse; ++i) c.set_output(output++, Shape{-1, rank});
  for (size_t i = 0; i < num_sparse; ++i) c.set_output(output++, Shape{-1});
  for (size_t i = 0; i < num_sparse; ++i) c.set_output(output++, Shape{rank});
  for (const Shape& row : shapes) {
    for (int d = row.has_rank() ? 1 : 0; d < row.rank() || !row.has_rank(); ++d) {
      if (row.has_rank() && row.dim(d) >= 0) continue;
      invalid_argument("dense_shapes may have an unknown first dimension only; got ", row, ".");
    }
    Shape shape;
    if (batch.has_rank() && !is_single) shape.append(batch.dim(0));
    for (int d = 0; d < row.rank(); ++d) shape.append(row.dim(d));
    c.set_output(output++, batch.has_rank() ? shape : Shape::unknown());
  }
  for (size_t i = 0; i < 2 * num_ragged; ++i) c.set_output(output++, Shape{-1});
}

void parse_example_shape(ShapeContext& c) {
  const auto& types = c.op().attr<std::vector<DType>>("sparse_types");
  const auto& dense_types = c.op().attr<std::vector<DType>>("Tdense");
  check_lengths(c.op(), "sparse_types", types.size(),
                static_cast<size_t>(c.op().attr_int("Nsparse")));
  check_lengths(c.op(), "Tdense", dense_types.size(),
                static_cast<size_t>(c.op().attr_int("Ndense")));
  check_lengths(c.op(), "dense_shapes", c.op().attr<std::vector<Shape>>("dense_shapes").size(),
                dense_types.size());
  set_shapes(c, c.with_rank(0, 1), types.size(), 0);
}

void parse_example_v2_shape(ShapeContext& c) {
  const auto& types = c.op().attr<std::vector<DType>>("sparse_types");
  const auto& ragged = c.op().attr<std::vector<DType>>("ragged_value_types");
  check_types(c.op(), "ragged_value_types", kExampleTypes);
  check_types(c.op(), "ragged_split_types", {DType::kInt32, DType::kInt64});
  check_lengths(c.op(), "sparse_types", types.size(),
                static_cast<size_t>(c.op().attr_int("num_sparse")));
  check_lengths(c.op(), "ragged_split_types",
                c.op().attr<std::vector<DType>>("ragged_split_types").size(), ragged.size());
  check_lengths(c.op(), "dense_shapes", c.op().attr<std::vector<Shape>>("dense_shapes").size(),
                c.op().attr<std::vector<DType>>("Tdense").size());
  set_shapes(c, c.input(0), types.size(), ragged.size());
}

void parse_single_example_shape(ShapeContext& c) {
  const auto& types = c.op().attr<std::vector<DType>>("sparse_types");
  const auto& dense_types = c.op().attr<std::vector<DType>>("Tdense");
  const auto n = static_cast<size_t>(c.op().attr_int("num_sparse"));
  check_lengths(c.op(), "sparse_types", types.size(), n);
  check_lengths(c.op(), "sparse_keys", c.op().attr<std::vector<std::string>>("sparse_keys").size(),
                n);
  check_lengths(c.op(), "dense_keys", c.op().attr<std::vector<std::string>>("dense_keys").size(),
                dense_types.size());
  check_lengths(c.op(), "dense_shapes", c.op().attr<std::vector<Shape>>("dense_shapes").size(),
                dense_types.size());
  set_shapes(c, Shape(), n, 0);
}

}  // namespace

#define RUNHOOKS_EXAMPLE_TYPES "list(type)"

RUNHOOKS_REGISTER_OP("ParseExample")
    .input("serialized: string, vector")
    .input("names: string, vector")
    .input("sparse_keys: Nsparse * string, scalar")
    .input("dense_keys: Ndense * string, scalar")
    .input("dense_defaults: Tdense")
    .output("sparse_indices: Nsparse * int64")
    .output("sparse_values: sparse_types")
    .output("sparse_shapes: Nsparse * int64")
    .output("dense_values: Tdense")
    .attr("Nsparse: int >= 0")
    .attr("Ndense: int >= 0")
    .attr("sparse_types: " RUNHOOKS_EXAMPLE_TYPES)
    .attr("Tdense: " RUNHOOKS_EXAMPLE_TYPES)
    .attr("dense_shapes: list(shape)")
    .shape(parse_example_shape)
    .kernel(kernel_of<ParseExampleKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.ParseExample")
    .summary("Parse the features of serialized examples.");

RUNHOOKS_REGISTER_OP("ParseExampleV2")
    .input("serialized: string, rank <= 1")
    .input("names: string, rank <= 1")
    .input("sparse_keys: string, vector")
    .input("dense_keys: string, vector")
    .input("ragged_keys: string, vector")
    .input("dense_defaults: Tdense")
    .output("sparse_indices: num_sparse * int64")
    .output("sparse_values: sparse_types")
    .output("sparse_shapes: num_sparse * int64")
    .output("dense_values: Tdense")
    .output("ragged_values: ragged_value_types")
    .output("ragged_row_splits: ragged_split_types")
    .attr("Tdense: " RUNHOOKS_EXAMPLE_TYPES)
    .attr("num_sparse: int >= 0")
    .attr("sparse_types: " RUNHOOKS_EXAMPLE_TYPES)
    .attr("ragged_value_types: " RUNHOOKS_EXAMPLE_TYPES)
    .attr("ragged_split_types: list(type)")
    .attr("dense_shapes: list(shape)")
    .shape(parse_example_v2_shape)
    .kernel(kernel_of<ParseExampleV2Kernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.ParseExampleV2")
    .summary("Parse the features of serialized examples.");

RUNHOOKS_REGISTER_OP("ParseSingleExample")
    .input("serialized: string, scalar")
    .input("dense_defaults: Tdense")
    .output("sparse_indices: num_sparse * int64")
    .output("sparse_values: sparse_types")
    .output("sparse_shapes: num_sparse * int64")
    .output("dense_values: Tdense")
    .attr("num_sparse: int >= 0")
    .attr("sparse_keys: list(string)")
    .attr("dense_keys: list(string)")
    .attr("sparse_types: " RUNHOOKS_EXAMPLE_TYPES)
    .attr("Tdense: " RUNHOOKS_EXAMPLE_TYPES)
    .attr("dense_shapes: list(shape)")
    .shape(parse_single_example_shape)
    .kernel(kernel_of<ParseSingleExampleKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.ParseSingleExample")
    .summary("Parse the features of one serialized example.");

}  // namespace runhooks
