// Lowers the ops of categorical columns to TensorFlow's ops. Ids stay dense, with special values
// (see categorical.h), so that each op can be lowered independently of the others.
#include <algorithm>

#include "ops/lookup/categorical.h"
#include "ops/lookup/lowering.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

// TensorFlow's collection of the files that are exported with a model.
constexpr const char* kAssetFilepaths = "asset_filepaths";

bool drops_missing(const Operation& op) { return op.attr<bool>("drop_missing"); }

Output absent_id(Graph& g) { return int64_scalar(g, kAbsentId, "absent"); }

Output missing_value(Graph& g, DType dtype) {
  if (dtype == DType::kString) return g.constant(Tensor::string_scalar(""), "missing");
  return g.scalar(dtype, -1, "missing");
}

// Adds the result: `ids` where feature x has a value, else kAbsentId.
void finish_ids(Graph& g, const Operation& op, Output x, Output ids) {
  if (!drops_missing(op)) {
    g.op("Identity", {ids}).named(result_name(op)).build();
    return;
  }
  const Output present = g.op("NotEqual", {x, missing_value(g, x.dtype())});
  g.op("SelectV2", {present, ids, absent_id(g)}).named(result_name(op)).build();
}

Output hash_bucket(Graph& g, Output x, int64_t num_buckets) {
  const Output text = x.dtype() == DType::kString ? x : g.op("AsString", {x});
  return g.op("StringToHashBucketFast", {text}).attr("num_buckets", num_buckets);
}

struct LoweredTable {
  Output handle;
  int64_t size;
  DType key_dtype;
};

Output add_table(Graph& g, DType key_dtype) {
  return g.op("HashTableV2")
      .attr("key_dtype", key_dtype)
      .attr("value_dtype", DType::kInt64)
      .attr("use_node_name_sharing", true)
      .named("hash_table");
}

void finish_vocabulary_ids(Graph& g,
                           const Operation& op,
                           Output feature,
                           const LoweredTable& table) {
  const int64_t num_oov = op.attr_int("num_oov_buckets");
  const Output x = as_matrix(g, feature);
  const int64_t default_id = num_oov > 0 ? kUnknownId : op.attr_int("default_value");
  const Output keys = table.key_dtype == DType::kString ? x : cast(g, x, table.key_dtype);
  const Output table_ids =
      g.op("LookupTableFindV2", {table.handle, keys, int64_scalar(g, default_id, "default_value")});
  if (num_oov == 0) return finish_ids(g, op, x, table_ids);
  const Output bucket = add(g, hash_bucket(g, x, num_oov), int64_scalar(g, table.size));
  const Output is_in_table = g.op("NotEqual", {table_ids, int64_scalar(g, default_id)});
  finish_ids(g, op, x, g.op("SelectV2", {is_in_table, table_ids, bucket}));
}

Operation* check_ids(Graph& g, const Operation& op, Output is_valid, Output x) {
  const std::string message =
      str_cat("Column '", op.attr<std::string>("column"), "' has a value that is not in [0, ",
              op.attr_int("num_buckets"), "):");
  const Output all_valid = g.op("All", {is_valid, g.int_vector({0, 1})});
  return g.op("Assert",
              {all_valid, g.constant(Tensor::string_scalar(message), "Assert/data_0"), x});
}

}  // namespace

Output dimension(Graph& g, Output x, int i) {
  const Shape& shape = x.shape();
  if (shape.has_rank() && shape.dim(i) >= 0) {
    return g.constant(Tensor::scalar<int32_t>(static_cast<int32_t>(shape.dim(i))), "dim");
  }
  const Output zero = g.scalar(DType::kInt32, 0);
  return g.op("GatherV2", {g.op("Shape", {x}), g.scalar(DType::kInt32, i), zero}).named("dim");
}

Output as_matrix(Graph& g, Output x) {
  if (x.shape().has_rank() && x.shape().rank() == 2) return x;
  if (x.shape().has_rank() && x.shape().rank() == 1) {
    return g.op("ExpandDims", {x, g.scalar(DType::kInt32, 1)});
  }
  const Output shape = g.op("Shape", {x});
  const Output begin = g.int_vector({0}), one = g.int_vector({1});
  const Output rows = g.op("Prod", {g.op("Slice", {shape, begin, one}), g.int_vector({0})});
  const Output inner_dims = g.op("Slice", {shape, one, g.int_vector({-1})});
  const Output width = g.op("Prod", {inner_dims, g.int_vector({0})});
  return g.op("Reshape", {x, g.op("Pack", {rows, width})});
}

void lower_hash_ids(Graph& g, const Operation& op, const Outputs& inputs) {
  const Output x = as_matrix(g, inputs[0]);
  finish_ids(g, op, x, hash_bucket(g, x, op.attr_int("num_buckets")));
}

void lower_vocabulary_ids(Graph& g, const Operation& op, const Outputs& inputs) {
  const Output vocabulary = inputs[1];
  const LoweredTable table = {add_table(g, vocabulary.dtype()), vocabulary.shape().num_elements(),
                              vocabulary.dtype()};
  const Output indices =
      g.op("Range", {int64_scalar(g, 0), int64_scalar(g, table.size), int64_scalar(g, 1)});
  Operation* initializer =
      g.op("InitializeTableV2", {table.handle, vocabulary, indices}).named("hash_table/table_init");
  g.add_to_collection(collection_keys::kTableInitializers, initializer);
  finish_vocabulary_ids(g, op, inputs[0], table);
}

void lower_vocabulary_file_ids(Graph& g, const Operation& op, const Outputs& inputs) {
  constexpr int64_t kWholeLine = -2, kLineNumber = -1;
  const int64_t size = op.attr_int("vocab_size");
  const DType key_dtype = op.attr_type("key_dtype");
  const LoweredTable table = {add_table(g, key_dtype), size, key_dtype};
  const Output path =
      g.constant(Tensor::string_scalar(op.attr<std::string>("filename")), "hash_table/asset_path");
  Operation* initializer = g.op("InitializeTableFromTextFileV2", {table.handle, path})
                               .attr("key_index", kWholeLine)
                               .attr("value_index", kLineNumber)
                               .attr("vocab_size", size)
                               .named("hash_table/table_init");
  g.add_to_collection(collection_keys::kTableInitializers, initializer);
  g.add_to_collection(kAssetFilepaths, path);
  finish_vocabulary_ids(g, op, inputs[0], table);
}

void lower_identity_ids(Graph& g, const Operation& op, const Outputs& inputs) {
  const Output x = cast(g, as_matrix(g, inputs[0]), DType::kInt64);
  const int64_t default_id = op.attr_int("default_value");
  const Output is_nonnegative = g.op("GreaterEqual", {x, int64_scalar(g, 0)});
  const Output is_below_limit = g.op("Less", {x, int64_scalar(g, op.attr_int("num_buckets"))});
  const Output is_in_range = g.op("LogicalAnd", {is_nonnegative, is_below_limit});
  if (default_id >= 0) {
    const Output ids =
        g.op("SelectV2", {is_in_range, x, int64_scalar(g, default_id, "default_value")});
    return finish_ids(g, op, x, ids);
  }
  Output is_valid = is_in_range;
  if (drops_missing(op)) {
    const Output is_missing = g.op("Equal", {x, missing_value(g, x.dtype())});
    is_valid = g.op("LogicalOr", {is_in_range, is_missing});
  }
  const ControlDependencies checked(g, {check_ids(g, op, is_valid, x)});
  finish_ids(g, op, x, g.op("Identity", {x}));
}

void lower_bucket_ids(Graph& g, const Operation& op, const Outputs& inputs) {
  const Output x = as_matrix(g, inputs[0]);
  const auto& boundaries = op.attr<std::vector<float>>("boundaries");
  const Output bucket =
      cast(g, g.op("Bucketize", {x}).attr("boundaries", boundaries), DType::kInt64);
  // Each column of the input has a separate range of buckets.
  const Output column =
      g.op("Range", {g.scalar(DType::kInt32, 0), dimension(g, x, 1), g.scalar(DType::kInt32, 1)});
  const Output buckets =
      int64_scalar(g, static_cast<int64_t>(boundaries.size()) + 1, "num_buckets");
  const Output first_bucket = multiply(g, cast(g, column, DType::kInt64), buckets);
  g.op("AddV2", {bucket, first_bucket}).named(result_name(op)).build();
}

// The inputs are keys, followed by the masks of sparse keys. TensorFlow's op takes sparse keys
// before dense ones, so all keys become sparse to preserve their order.
void lower_cross_ids(Graph& g, const Operation& op, const Outputs& inputs) {
  const auto& is_sparse = op.attr<std::vector<int64_t>>("is_sparse");
  const auto masks =
      std::count_if(is_sparse.begin(), is_sparse.end(), [](int64_t x) { return x != 0; });
  const size_t n = inputs.size() - static_cast<size_t>(masks);
  Outputs indices, values, shapes;
  Output width = g.scalar(DType::kInt32, 1);
  for (size_t k = 0, mask = n; k < n; ++k) {
    const Output x = as_matrix(g, inputs[k]);
    const bool has_mask = k < is_sparse.size() && is_sparse[k] != 0;
    Output present;
    if (has_mask) {
      present = as_matrix(g, inputs[mask++]);
    } else if (x.dtype() == DType::kInt64) {
      present = g.op("NotEqual", {x, absent_id(g)});
    } else {
      present = g.op("Equal", {x, x});
    }
    const Output key = x.dtype() == DType::kInt32 ? cast(g, x, DType::kInt64) : x;
    indices.push_back(g.op("Where", {present}));
    values.push_back(g.op("GatherNd", {key, indices.back()}));
    shapes.push_back(g.op("Shape", {key}).attr("out_type", DType::kInt64));
    width = multiply(g, width, dimension(g, x, 1));
  }
  const Output rows = dimension(g, as_matrix(g, inputs[0]), 0);
  Outputs inputs_of_cross = indices;
  inputs_of_cross.insert(inputs_of_cross.end(), values.begin(), values.end());
  inputs_of_cross.insert(inputs_of_cross.end(), shapes.begin(), shapes.end());
  std::vector<DType> types;
  for (const Output& value : values) types.push_back(value.dtype());
  Operation* cross = g.op("SparseCross", inputs_of_cross)
                         .attr("N", static_cast<int64_t>(n))
                         .attr("hashed_output", true)
                         .attr("num_buckets", op.attr_int("num_buckets"))
                         .attr("hash_key", op.attr_int("hash_key"))
                         .attr("sparse_types", types)
                         .attr("dense_types", std::vector<DType>())
                         .attr("out_type", DType::kInt64)
                         .attr("internal_type", DType::kInt64);
  const Output shape = cast(g, g.op("Pack", {rows, width}), DType::kInt64);
  g.op("SparseToDense", {cross->output(0), shape, cross->output(1), absent_id(g)})
      .named(result_name(op))
      .build();
}

void lower_multi_hot(Graph& g, const Operation& op, const Outputs& inputs) {
  const Output ids = inputs[0];
  const Output depth = int64_scalar(g, op.attr_int("depth"), "depth");
  const Output is_nonnegative = g.op("GreaterEqual", {ids, int64_scalar(g, 0)});
  const Output positions =
      g.op("Where", {g.op("LogicalAnd", {is_nonnegative, g.op("Less", {ids, depth})})});
  const Output valid_ids = g.op("GatherNd", {ids, positions});
  Operation* columns = g.op("Unpack", {positions}).attr("num", 2).attr("axis", 1);
  const Output example_and_id = g.op("Pack", {columns->output(0), valid_ids}).attr("axis", 1);
  const DType dtype = op.attr_type("T");
  const Output counts = inputs.size() > 1
                            ? g.op("GatherNd", {as_matrix(g, inputs[1]), positions})
                            : g.op("Fill", {g.op("Shape", {valid_ids}), g.scalar(dtype, 1)});
  const Output batch = cast(g, dimension(g, ids, 0), DType::kInt64);
  g.op("ScatterNd", {example_and_id, counts, g.op("Pack", {batch, depth})})
      .named(result_name(op))
      .build();
}

}  // namespace runhooks
