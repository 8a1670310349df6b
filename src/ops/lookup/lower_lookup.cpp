// Lowers look-ups and gradients of rows to TensorFlow's ops, like
// tf.nn.safe_embedding_lookup_sparse(), on dense ids.
#include "ops/lookup/lowering.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

Output column(Graph& g, Output x) { return g.op("ExpandDims", {x, g.scalar(DType::kInt32, 1)}); }
Output row_sums(Graph& g, Output x, bool keep_dims = false) {
  return g.op("Sum", {x, g.int_vector({1})}).attr("keep_dims", keep_dims);
}

// The inputs of a look-up, starting at `first`, and the mask of valid entries [batch, k].
class Entries {
 public:
  Entries(Graph& g, const Operation& op, const Outputs& inputs, size_t first)
      : g_(g), combiner_(op.attr<std::string>("combiner")), max_norm_(op.attr<float>("max_norm")) {
    const auto parts = static_cast<size_t>(op.attr_int("num_params"));
    params_.assign(inputs.begin() + static_cast<std::ptrdiff_t>(first),
                   inputs.begin() + static_cast<std::ptrdiff_t>(first + parts));
    const Output ids = inputs[first + parts];
    dtype_ = params_[0].dtype();
    valid = g.op("GreaterEqual", {ids, int64_scalar(g, 0)});
    if (op.attr_int("N") > 0) {
      Output given = inputs[first + parts + 1];
      if (given.shape() != ids.shape()) given = g.op("Reshape", {given, g.op("Shape", {ids})});
      const char* counts = combiner_ == "sum" ? "NotEqual" : "Greater";
      valid = g.op("LogicalAnd", {valid, g.op(counts, {given, zero()})});
      weights = g.op("SelectV2", {valid, given, zero()});
    }
    at = g.op("Where", {valid});
    Operation* columns = g.op("Unpack", {at}).attr("num", 2).attr("axis", 1);
    example = columns->output(0);
    id = g.op("GatherNd", {ids, at});
    batch = dimension(g, ids, 0);
    ids_shape = g.op("Shape", {ids}).attr("out_type", DType::kInt64);
  }
  bool sums() const { return combiner_ == "sum"; }
  bool has_weights() const { return static_cast<bool>(weights); }
  const Outputs& params() const { return params_; }
  Output zero() const { return g_.scalar(dtype_, 0); }
  Output table() {
    if (!table_) {
      Outputs parts = params_;
      parts.push_back(g_.scalar(DType::kInt32, 0));
      table_ = params_.size() == 1 ? params_[0] : g_.op("ConcatV2", parts);
    }
    return table_;
  }
  // The weights of the entries [batch, k], 0 for invalid ones.
  Output all_weights() const { return weights ? weights : cast(g_, valid, dtype_); }
  Output divisor() const {
    const Output w = all_weights();
    if (combiner_ == "mean") return row_sums(g_, w);
    return g_.op("Sqrt", {row_sums(g_, g_.op("Square", {w}))});
  }
  // The norms of rows, and the rows clipped to max_norm.
  Output norms(Output rows) const {
    return g_.op("Sqrt", {row_sums(g_, g_.op("Square", {rows}), true)});
  }
  Output clipped(Output rows) const {
    if (max_norm_ <= 0) return rows;
    return multiply(g_, rows, divide(g_, limit(), g_.op("Maximum", {norms(rows), limit()})));
  }
  // d (v c / |v|) for the clipped rows v.
  Output clip_gradient(Output sums, Output rows) const {
    if (max_norm_ <= 0) return sums;
    const Output norm = norms(rows);
    const Output along =
        divide(g_, row_sums(g_, multiply(g_, rows, sums), true), g_.op("Square", {norm}));
    const Output across = subtract(g_, sums, multiply(g_, rows, along));
    const Output scaled = multiply(g_, across, divide(g_, limit(), norm));
    return g_.op("SelectV2", {g_.op("Greater", {norm, limit()}), scaled, sums});
  }

  Output valid, weights, at, example, id, batch, ids_shape;

 private:
  Output limit() const { return g_.scalar(dtype_, max_norm_, "max_norm"); }
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

struct Rows {
  Output values, indices;
};

Rows distinct_rows(Graph& g, Output values, Output indices) {
  Operation* unique = g.op("Unique", {indices});
  const Output n = g.op("Size", {unique->output(0)});
  return {sum_segments(g, values, unique->output(1), n, "sums")->output(0), unique->output(0)};
}

// Adds id 0, with a zero gradient, for examples without ids.
Rows with_empty_examples(Graph& g, const Entries& in, Output grad, const Rows& rows) {
  const Output any = g.op("Any", {in.valid, g.int_vector({1})});
  const Output empty = g.op("Where", {g.op("LogicalNot", {any})});
  const Output examples = g.op("Reshape", {empty, g.int_vector({-1})});
  const Output axis = g.scalar(DType::kInt32, 0);
  const Output zeros = g.op("ZerosLike", {rows_at(g, grad, examples)});
  return {g.op("ConcatV2", {rows.values, zeros, axis}),
          g.op("ConcatV2", {rows.indices, g.op("ZerosLike", {examples}), axis})};
}

// The rows of each partition, by their index in it.
Outputs split_by_part(Graph& g, const Outputs& params, const Rows& rows) {
  Outputs values, indices;
  Output begin = int64_scalar(g, 0);
  for (const Output& part : params) {
    const Output end = add(g, begin, cast(g, dimension(g, part, 0), DType::kInt64));
    const Output from = g.op("GreaterEqual", {rows.indices, begin});
    const Output here = g.op("LogicalAnd", {from, g.op("Less", {rows.indices, end})});
    const Output kept = g.op("Reshape", {g.op("Where", {here}), g.int_vector({-1})});
    values.push_back(rows_at(g, rows.values, kept));
    indices.push_back(subtract(g, rows_at(g, rows.indices, kept), begin));
    begin = end;
  }
  values.insert(values.end(), indices.begin(), indices.end());
  return values;
}

}  // namespace

void lower_lookup(Graph& g, const Operation& op, const Outputs& inputs) {
  Entries in(g, op, inputs, 0);
  Output rows = in.clipped(rows_at(g, in.table(), in.id));
  if (in.has_weights()) rows = multiply(g, rows, column(g, g.op("GatherNd", {in.weights, in.at})));
  if (in.sums()) {
    sum_segments(g, rows, in.example, in.batch, result_name(op));
    return;
  }
  const Output sums = sum_segments(g, rows, in.example, in.batch, "sums")->output(0);
  g.op("DivNoNan", {sums, column(g, in.divisor())}).named(result_name(op)).build();
}

void lower_lookup_grad(Graph& g, const Operation& op, const Outputs& inputs) {
  const Output grad = inputs[0];
  Entries in(g, op, inputs, 1);
  Output share = in.has_weights() ? g.op("GatherNd", {in.weights, in.at}) : Output();
  if (!in.sums()) {
    const Output each = rows_at(g, in.divisor(), in.example);
    share = share ? divide(g, share, each) : static_cast<Output>(g.op("Reciprocal", {each}));
  }
  Rows rows = {rows_at(g, grad, in.example), in.id};
  if (share) rows.values = multiply(g, rows.values, column(g, share));
  rows = with_empty_examples(g, in, grad, rows);
  rows = distinct_rows(g, rows.values, rows.indices);
  if (op.attr<float>("max_norm") > 0) {
    rows.values = in.clip_gradient(rows.values, rows_at(g, in.table(), rows.indices));
  }
  const Outputs results = in.params().size() == 1 ? Outputs{rows.values, rows.indices}
                                                  : split_by_part(g, in.params(), rows);
  g.op("IdentityN", results).named(result_name(op)).build();
}

void lower_lookup_weights_grad(Graph& g, const Operation& op, const Outputs& inputs) {
  Entries in(g, op, inputs, 1);
  const Output rows = in.clipped(rows_at(g, in.table(), in.id));
  const Output along_rows = row_sums(g, multiply(g, rows_at(g, inputs[0], in.example), rows));
  const Output shape = in.ids_shape;
  if (in.sums()) {
    g.op("ScatterNd", {in.at, along_rows, shape}).named(result_name(op)).build();
    return;
  }
  const Output divisor = column(g, in.divisor());
  const Output parts = g.op("DivNoNan", {g.op("ScatterNd", {in.at, along_rows, shape}), divisor});
  const Output along = row_sums(g, multiply(g, parts, in.all_weights()), true);
  const Output valid = cast(g, in.valid, parts.dtype());
  const Output share = op.attr<std::string>("combiner") == "mean"
                           ? valid
                           : static_cast<Output>(g.op("DivNoNan", {in.all_weights(), divisor}));
  const Output common = g.op("DivNoNan", {multiply(g, along, share), divisor});
  g.op("Sub", {parts, common}).named(result_name(op)).build();
}

void lower_sparse_segment_sum_grad(Graph& g, const Operation& op, const Outputs& inputs) {
  sum_segments(g, rows_at(g, inputs[0], inputs[2]), inputs[1], inputs[3], result_name(op));
}

void lower_sum_duplicate_rows(Graph& g, const Operation& op, const Outputs& inputs) {
  const Rows rows = distinct_rows(g, inputs[0], inputs[1]);
  g.op("IdentityN", {rows.values, rows.indices}).named(result_name(op)).build();
}

}  // namespace runhooks
