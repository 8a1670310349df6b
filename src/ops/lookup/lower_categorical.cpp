// Lowers ids of categorical columns to TensorFlow's ops. Ids stay dense, with special values
// (ops/lookup/categorical.h), so that each op is lowered independently.
#include <algorithm>

#include "ops/lookup/categorical.h"
#include "ops/lookup/lowering.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

// TensorFlow's collection of files to export with a model.
constexpr const char* kAssetFilepaths = "asset_filepaths";

bool drops_missing(const Operation& op) { return op.attr<bool>("drop_missing"); }

Output absent_mark(Graph& g) { return int64_scalar(g, kAbsentId, "absent"); }

Output missing_value(Graph& g, DType dtype) {
  if (dtype == DType::kString) return g.constant(Tensor::string_scalar(""), "missing");
  return g.scalar(dtype, -1, "missing");
}

// Returns `ids` where feature x has a value, and the absent mark elsewhere.
void finish_ids(Graph& g, const Operation& op, Output x, Output ids) {
  if (!drops_missing(op)) {
    g.op("Identity", {ids}).named(result_name(op)).build();
    return;
  }
  const Output present = g.op("NotEqual", {x, missing_value(g, x.dtype())});
  g.op("SelectV2", {present, ids, absent_mark(g)}).named(result_name(op)).build();
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

Output make_table(Graph& g, DType key_dtype) {
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
  const int64_t otherwise = num_oov > 0 ? kUnknownId : op.attr_int("default_value");
  const Output keys = table.key_dtype == DType::kString ? x : cast(g, x, table.key_dtype);
  const Output found =
      g.op("LookupTableFindV2", {table.handle, keys, int64_scalar(g, otherwise, "default_value")});
  if (num_oov == 0) return finish_ids(g, op, x, found);
  const Output bucket = add(g, hash_bucket(g, x, num_oov), int64_scalar(g, table.size));
  const Output is_known = g.op("NotEqual", {found, int64_scalar(g, otherwise)});
  finish_ids(g, op, x, g.op("SelectV2", {is_known, found, bucket}));
}

Operation* check_ids(Graph& g, const Operation& op, Output is_good, Output x) {
  const std::string message =
      str_cat("Column '", op.attr<std::string>("column"), "' has a value that is not in [0, ",
              op.attr_int("num_buckets"), "):");
  const Output all = g.op("All", {is_good, g.int_vector({0, 1})});
  return g.op("Assert", {all, g.constant(Tensor::string_scalar(message), "Assert/data_0"), x});
}

struct SparseKey {
  Output indices, values, shape;
};

SparseKey sparse_key(Graph& g, Output x, Output present) {
  SparseKey key;
  key.indices = g.op("Where", {present});
  key.values = g.op("GatherNd", {x, key.indices});
  key.shape = g.op("Shape", {x}).attr("out_type", DType::kInt64);
  return key;
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
  const Output rest = g.op("Slice", {shape, one, g.int_vector({-1})});
  const Output width = g.op("Prod", {rest, g.int_vector({0})});
  return g.op("Reshape", {x, g.op("Pack", {rows, width})});
}

void lower_hash_ids(Graph& g, const Operation& op, const Outputs& inputs) {
  const Output x = as_matrix(g, inputs[0]);
  finish_ids(g, op, x, hash_bucket(g, x, op.attr_int("num_buckets")));
}

void lower_vocabulary_ids(Graph& g, const Operation& op, const Outputs& inputs) {
  const Output words = inputs[1];
  const LoweredTable table = {make_table(g, words.dtype()), words.shape().num_elements(),
                              words.dtype()};
  const Output places =
      g.op("Range", {int64_scalar(g, 0), int64_scalar(g, table.size), int64_scalar(g, 1)});
  Operation* initializer =
      g.op("InitializeTableV2", {table.handle, words, places}).named("hash_table/table_init");
  g.add_to_collection(collection_keys::kTableInitializers, initializer);
  finish_vocabulary_ids(g, op, inputs[0], table);
}

void lower_vocabulary_file_ids(Graph& g, const Operation& op, const Outputs& inputs) {
  constexpr int64_t kWholeLine = -2, kLineNumber = -1;
  const int64_t size = op.attr_int("vocab_size");
  const DType key_dtype = op.attr_type("key_dtype");
  const LoweredTable table = {make_table(g, key_dtype), size, key_dtype};
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
  const int64_t otherwise = op.attr_int("default_value");
  const Output from_0 = g.op("GreaterEqual", {x, int64_scalar(g, 0)});
  const Output below = g.op("Less", {x, int64_scalar(g, op.attr_int("num_buckets"))});
  const Output inside = g.op("LogicalAnd", {from_0, below});
  if (otherwise >= 0) {
    const Output ids = g.op("SelectV2", {inside, x, int64_scalar(g, otherwise, "default_value")});
    return finish_ids(g, op, x, ids);
  }
  Output is_good = inside;
  if (drops_missing(op)) {
    const Output is_missing = g.op("Equal", {x, missing_value(g, x.dtype())});
    is_good = g.op("LogicalOr", {inside, is_missing});
  }
  const ControlDependencies checked(g, {check_ids(g, op, is_good, x)});
  finish_ids(g, op, x, g.op("Identity", {x}));
}

void lower_bucket_ids(Graph& g, const Operation& op, const Outputs& inputs) {
  const Output x = as_matrix(g, inputs[0]);
  const auto& edges = op.attr<std::vector<float>>("boundaries");
  const Output bucket = cast(g, g.op("Bucketize", {x}).attr("boundaries", edges), DType::kInt64);
  // Each further element of a row has its own range of buckets.
  const Output column =
      g.op("Range", {g.scalar(DType::kInt32, 0), dimension(g, x, 1), g.scalar(DType::kInt32, 1)});
  const Output buckets = int64_scalar(g, static_cast<int64_t>(edges.size()) + 1, "num_buckets");
  const Output first = multiply(g, cast(g, column, DType::kInt64), buckets);
  g.op("AddV2", {bucket, first}).named(result_name(op)).build();
}

// The inputs are keys, then the `present` masks of sparse keys. All keys become sparse to keep
// their order, because TensorFlow's op takes sparse keys first.
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
      present = g.op("NotEqual", {x, absent_mark(g)});
    } else {
      present = g.op("Equal", {x, x});
    }
    const SparseKey key =
        sparse_key(g, x.dtype() == DType::kInt32 ? cast(g, x, DType::kInt64) : x, present);
    indices.push_back(key.indices);
    values.push_back(key.values);
    shapes.push_back(key.shape);
    width = multiply(g, width, dimension(g, x, 1));
  }
  const Output rows = dimension(g, as_matrix(g, inputs[0]), 0);
  Outputs all = indices;
  all.insert(all.end(), values.begin(), values.end());
  all.insert(all.end(), shapes.begin(), shapes.end());
  std::vector<DType> types;
  for (const Output& value : values) types.push_back(value.dtype());
  Operation* cross = g.op("SparseCross", all)
                         .attr("N", static_cast<int64_t>(n))
                         .attr("hashed_output", true)
                         .attr("num_buckets", op.attr_int("num_buckets"))
                         .attr("hash_key", op.attr_int("hash_key"))
                         .attr("sparse_types", types)
                         .attr("dense_types", std::vector<DType>())
                         .attr("out_type", DType::kInt64)
                         .attr("internal_type", DType::kInt64);
  const Output shape = cast(g, g.op("Pack", {rows, width}), DType::kInt64);
  g.op("SparseToDense", {cross->output(0), shape, cross->output(1), absent_mark(g)})
      .named(result_name(op))
      .build();
}

void lower_multi_hot(Graph& g, const Operation& op, const Outputs& inputs) {
  const Output ids = inputs[0];
  const Output depth = int64_scalar(g, op.attr_int("depth"), "depth");
  const Output from_0 = g.op("GreaterEqual", {ids, int64_scalar(g, 0)});
  const Output at = g.op("Where", {g.op("LogicalAnd", {from_0, g.op("Less", {ids, depth})})});
  const Output id = g.op("GatherNd", {ids, at});
  Operation* columns = g.op("Unpack", {at}).attr("num", 2).attr("axis", 1);
  const Output places = g.op("Pack", {columns->output(0), id}).attr("axis", 1);
  const DType dtype = op.attr_type("T");
  const Output counts = inputs.size() > 1 ? g.op("GatherNd", {as_matrix(g, inputs[1]), at})
                                          : g.op("Fill", {g.op("Shape", {id}), g.scalar(dtype, 1)});
  const Output batch = cast(g, dimension(g, ids, 0), DType::kInt64);
  g.op("ScatterNd", {places, counts, g.op("Pack", {batch, depth})}).named(result_name(op)).build();
}

}  // namespace runhooks
