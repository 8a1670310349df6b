// Lowers look-ups and their gradients to TensorFlow's ops. The ops are like those of
// tf.nn.safe_embedding_lookup_sparse(), but on dense ids (see categorical.h).
#include "ops/lookup/lowering.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

Output column(Graph& g, Output x) { return g.op("ExpandDims", {x, g.scalar(DType::kInt32, 1)}); }
Output row_sums(Graph& g, Output x, bool keep_dims = false) {
  return g.op("Sum", {x, g.int_vector({1})}).attr("keep_dims", keep_dims);
}

// The inputs of a look-up, which begin at index `first`, and their valid entries. An entry is an
// element of the ids [batch, k].
class LookupEntries {
 public:
  LookupEntries(Graph& g, const Operation& op, const Outputs& inputs, size_t first)
      : g_(g), combiner_(op.attr<std::string>("combiner")), max_norm_(op.attr<float>("max_norm")) {
    const auto num_partitions = static_cast<size_t>(op.attr_int("num_params"));
    params_.assign(inputs.begin() + static_cast<std::ptrdiff_t>(first),
                   inputs.begin() + static_cast<std::ptrdiff_t>(first + num_partitions));
    const Output ids = inputs[first + num_partitions];
    dtype_ = params_[0].dtype();
    valid = g.op("GreaterEqual", {ids, int64_scalar(g, 0)});
    if (op.attr_int("N") > 0) {
      Output raw_weights = inputs[first + num_partitions + 1];
      if (raw_weights.shape() != ids.shape())
        raw_weights = g.op("Reshape", {raw_weights, g.op("Shape", {ids})});
      const char* comparison = combiner_ == "sum" ? "NotEqual" : "Greater";
      valid = g.op("LogicalAnd", {valid, g.op(comparison, {raw_weights, zero()})});
      weights = g.op("SelectV2", {valid, raw_weights, zero()});
    }
    positions = g.op("Where", {valid});
    Operation* columns = g.op("Unpack", {positions}).attr("num", 2).attr("axis", 1);
    example_ids = columns->output(0);
    row_ids = g.op("GatherNd", {ids, positions});
    batch = dimension(g, ids, 0);
    ids_shape = g.op("Shape", {ids}).attr("out_type", DType::kInt64);
  }
  bool is_sum() const { return combiner_ == "sum"; }
  bool has_weights() const { return static_cast<bool>(weights); }
  const Outputs& params() const { return params_; }
  Output zero() const { return g_.scalar(dtype_, 0); }
  Output table() {
    if (!table_) {
      Outputs partitions = params_;
      partitions.push_back(g_.scalar(DType::kInt32, 0));
      table_ = params_.size() == 1 ? params_[0] : g_.op("ConcatV2", partitions);
    }
    return table_;
  }
  // Returns the weights [batch, k]; without weights, 1 for valid entries and 0 for others.
  Output weights_or_mask() const { return weights ? weights : cast(g_, valid, dtype_); }
  Output divisor() const {
    const Output w = weights_or_mask();
    if (combiner_ == "mean") return row_sums(g_, w);
    return g_.op("Sqrt", {row_sums(g_, g_.op("Square", {w}))});
  }
  // Returns the Euclidean norm of each row.
  Output norms(Output rows) const {
    return g_.op("Sqrt", {row_sums(g_, g_.op("Square", {rows}), true)});
  }
  // Clips the rows to the norm max_norm.
  Output clipped(Output rows) const {
    if (max_norm_ <= 0) return rows;
    return multiply(
        g_, rows,
        divide(g_, max_norm_scalar(), g_.op("Maximum", {norms(rows), max_norm_scalar()})));
  }
  // Applies the derivative of clipping, v -> v * max_norm / |v|, to the gradients of clipped rows
  // v.
  Output clip_gradient(Output sums, Output rows) const {
    if (max_norm_ <= 0) return sums;
    const Output norm = norms(rows);
    const Output projection =
        divide(g_, row_sums(g_, multiply(g_, rows, sums), true), g_.op("Square", {norm}));
    const Output orthogonal = subtract(g_, sums, multiply(g_, rows, projection));
    const Output scaled = multiply(g_, orthogonal, divide(g_, max_norm_scalar(), norm));
    return g_.op("SelectV2", {g_.op("Greater", {norm, max_norm_scalar()}), scaled, sums});
  }

  Output valid, weights, positions, example_ids, row_ids, batch, ids_shape;

 private:
  Output max_norm_scalar() const { return g_.scalar(dtype_, max_norm_, "max_norm"); }
  Graph& g_;
  std::string combiner_;
  float max_norm_;
  DType dtype_ = DType::kInvalid;
  Outputs params_;
  Output table_;
};

Operation* sum_segments(Graph& g, Output rows, Output segments, Output n, const std::string& name) {
  return g.op("UnsortedSegmentSum", {rows, segments, n}).named(name);
}

struct SparseRows {
  Output values, indices;
};

SparseRows sum_distinct_rows(Graph& g, Output values, Output indices) {
  Operation* unique = g.op("Unique", {indices});
  const Output n = g.op("Size", {unique->output(0)});
  return {sum_segments(g, values, unique->output(1), n, "sums")->output(0), unique->output(0)};
}

// Adds row 0 with a zero gradient for each example without ids, as TensorFlow does.
SparseRows with_empty_examples(Graph& g,
                               const LookupEntries& in,
                               Output grad,
                               const SparseRows& rows) {
  const Output has_ids = g.op("Any", {in.valid, g.int_vector({1})});
  const Output empty_examples = g.op("Where", {g.op("LogicalNot", {has_ids})});
  const Output example_positions = g.op("Reshape", {empty_examples, g.int_vector({-1})});
  const Output axis = g.scalar(DType::kInt32, 0);
  const Output zeros = g.op("ZerosLike", {rows_at(g, grad, example_positions)});
  return {g.op("ConcatV2", {rows.values, zeros, axis}),
          g.op("ConcatV2", {rows.indices, g.op("ZerosLike", {example_positions}), axis})};
}

// Splits rows by the partition of the table that they belong to: first the values for each
// partition, then the indices in each partition.
Outputs split_by_partition(Graph& g, const Outputs& params, const SparseRows& rows) {
  Outputs values, indices;
  Output begin = int64_scalar(g, 0);
  for (const Output& part : params) {
    const Output end = add(g, begin, cast(g, dimension(g, part, 0), DType::kInt64));
    const Output is_after_begin = g.op("GreaterEqual", {rows.indices, begin});
    const Output is_in_partition =
        g.op("LogicalAnd", {is_after_begin, g.op("Less", {rows.indices, end})});
    const Output selected = g.op("Reshape", {g.op("Where", {is_in_partition}), g.int_vector({-1})});
    values.push_back(rows_at(g, rows.values, selected));
    indices.push_back(subtract(g, rows_at(g, rows.indices, selected), begin));
    begin = end;
  }
  values.insert(values.end(), indices.begin(), indices.end());
  return values;
}

}  // namespace

void lower_lookup(Graph& g, const Operation& op, const Outputs& inputs) {
  LookupEntries in(g, op, inputs, 0);
  Output rows = in.clipped(rows_at(g, in.table(), in.row_ids));
  if (in.has_weights())
    rows = multiply(g, rows, column(g, g.op("GatherNd", {in.weights, in.positions})));
  if (in.is_sum()) {
    sum_segments(g, rows, in.example_ids, in.batch, result_name(op));
    return;
  }
  const Output sums = sum_segments(g, rows, in.example_ids, in.batch, "sums")->output(0);
  g.op("DivNoNan", {sums, column(g, in.divisor())}).named(result_name(op)).build();
}

void lower_lookup_grad(Graph& g, const Operation& op, const Outputs& inputs) {
  const Output grad = inputs[0];
  LookupEntries in(g, op, inputs, 1);
  Output weight = in.has_weights() ? g.op("GatherNd", {in.weights, in.positions}) : Output();
  if (!in.is_sum()) {
    const Output divisors = rows_at(g, in.divisor(), in.example_ids);
    weight =
        weight ? divide(g, weight, divisors) : static_cast<Output>(g.op("Reciprocal", {divisors}));
  }
  SparseRows rows = {rows_at(g, grad, in.example_ids), in.row_ids};
  if (weight) rows.values = multiply(g, rows.values, column(g, weight));
  rows = with_empty_examples(g, in, grad, rows);
  rows = sum_distinct_rows(g, rows.values, rows.indices);
  if (op.attr<float>("max_norm") > 0) {
    rows.values = in.clip_gradient(rows.values, rows_at(g, in.table(), rows.indices));
  }
  const Outputs results = in.params().size() == 1 ? Outputs{rows.values, rows.indices}
                                                  : split_by_partition(g, in.params(), rows);
  g.op("IdentityN", results).named(result_name(op)).build();
}

void lower_lookup_weights_grad(Graph& g, const Operation& op, const Outputs& inputs) {
  LookupEntries in(g, op, inputs, 1);
  const Output rows = in.clipped(rows_at(g, in.table(), in.row_ids));
  const Output row_products = row_sums(g, multiply(g, rows_at(g, inputs[0], in.example_ids), rows));
  const Output shape = in.ids_shape;
  if (in.is_sum()) {
    g.op("ScatterNd", {in.positions, row_products, shape}).named(result_name(op)).build();
    return;
  }
  const Output divisor = column(g, in.divisor());
  const Output partial_grads =
      g.op("DivNoNan", {g.op("ScatterNd", {in.positions, row_products, shape}), divisor});
  const Output projection = row_sums(g, multiply(g, partial_grads, in.weights_or_mask()), true);
  const Output valid = cast(g, in.valid, partial_grads.dtype());
  const Output weight =
      op.attr<std::string>("combiner") == "mean"
          ? valid
          : static_cast<Output>(g.op("DivNoNan", {in.weights_or_mask(), divisor}));
  const Output correction = g.op("DivNoNan", {multiply(g, projection, weight), divisor});
  g.op("Sub", {partial_grads, correction}).named(result_name(op)).build();
}

void lower_sparse_segment_sum_grad(Graph& g, const Operation& op, const Outputs& inputs) {
  sum_segments(g, rows_at(g, inputs[0], inputs[2]), inputs[1], inputs[3], result_name(op));
}

void lower_sum_duplicate_rows(Graph& g, const Operation& op, const Outputs& inputs) {
  const SparseRows rows = sum_distinct_rows(g, inputs[0], inputs[1]);
  g.op("IdentityN", {rows.values, rows.indices}).named(result_name(op)).build();
}

}  // namespace runhooks
