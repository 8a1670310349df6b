#include "nn/parse_functions.h"

#include <cstring>
#include <map>

namespace runhooks {

namespace {

// The features of a tf.Example that the op reads, in the order of its outputs.
struct FeaturesByKey {
  std::map<std::string, DType> sparse;
  std::map<std::string, const FeatureSpec*> dense;
};

void add_sparse_feature(FeaturesByKey& features_by_key, const std::string& key, DType dtype) {
  const auto added = features_by_key.sparse.emplace(key, dtype);
  if (!added.second && added.first->second != dtype) {
    invalid_argument("Conflicting type for feature ", key, ": ", dtype_name(added.first->second),
                     " and ", dtype_name(dtype), ".");
  }
}

void check_spec(const FeatureSpec& spec) {
  const bool is_supported_type =
      spec.dtype == DType::kFloat32 || spec.dtype == DType::kInt64 || spec.dtype == DType::kString;
  if (!is_supported_type) {
    throw Error(Code::kInvalidArgument,
                str_cat("Feature '", spec.key, "' cannot be of type ", dtype_name(spec.dtype), "."),
                {"A tf.Example holds float32, int64 and string; cast the parsed tensor."});
  }
  const bool is_dense = spec.kind == FeatureSpec::Kind::kFixedLen ||
                        spec.kind == FeatureSpec::Kind::kFixedLenSequence;
  if (is_dense && !spec.shape.is_fully_defined()) {
    invalid_argument("Feature '", spec.key, "' needs a known shape; got ", spec.shape, ".");
  }
}

FeaturesByKey group_features(const std::vector<FeatureSpec>& features) {
  FeaturesByKey features_by_key;
  if (features.empty()) invalid_argument("Missing: features was empty.");
  for (const FeatureSpec& spec : features) {
    check_spec(spec);
    if (spec.kind == FeatureSpec::Kind::kVarLen)
      add_sparse_feature(features_by_key, spec.key, spec.dtype);
    if (spec.kind == FeatureSpec::Kind::kSparse) {
      add_sparse_feature(features_by_key, spec.index_key, DType::kInt64);
      add_sparse_feature(features_by_key, spec.value_key, spec.dtype);
    }
    const bool is_dense = spec.kind == FeatureSpec::Kind::kFixedLen ||
                          spec.kind == FeatureSpec::Kind::kFixedLenSequence;
    if (is_dense) features_by_key.dense[spec.key] = &spec;
  }
  for (const auto& entry : features_by_key.dense) {
    if (!features_by_key.sparse.count(entry.first)) continue;
    invalid_argument("Dense and sparse keys must not intersect; intersection: ", entry.first, ".");
  }
  return features_by_key;
}

Shape dense_shape_of(const FeatureSpec& spec) {
  if (spec.kind == FeatureSpec::Kind::kFixedLen) return spec.shape;
  Shape shape{-1};
  for (int i = 0; i < spec.shape.rank(); ++i) shape.append(spec.shape.dim(i));
  return shape;
}

Tensor default_tensor(const FeatureSpec& spec) {
  const Tensor& default_value = spec.default_value;
  const bool is_sequence = spec.kind == FeatureSpec::Kind::kFixedLenSequence;
  if (!default_value.is_valid()) {
    return is_sequence ? Tensor::zeros(spec.dtype, Shape()) : Tensor(spec.dtype, Shape{0});
  }
  if (is_sequence) return default_value.reshaped(Shape());
  if (default_value.num_elements() == spec.shape.num_elements())
    return default_value.reshaped(spec.shape);
  if (default_value.num_elements() != 1) {
    invalid_argument("Feature '", spec.key, "' of shape ", spec.shape, " has a default of ",
                     default_value.num_elements(), " values; use one value, or one per element.");
  }
  if (spec.dtype == DType::kString) {
    const auto n = static_cast<size_t>(spec.shape.num_elements());
    return Tensor::strings(spec.shape, std::vector<std::string>(n, default_value.string_at(0)));
  }
  Tensor repeated(spec.dtype, spec.shape);
  const size_t size = dtype_size(spec.dtype);
  for (int64_t i = 0; i < repeated.num_elements(); ++i) {
    std::memcpy(static_cast<char*>(repeated.raw()) + static_cast<size_t>(i) * size,
                default_value.raw(), size);
  }
  return repeated;
}

// Adds the op that parses the features.
class ParseOpBuilder {
 public:
  ParseOpBuilder(Graph& graph, const FeaturesByKey& features_by_key)
      : graph_(graph), features_(features_by_key) {
    for (const auto& entry : features_by_key.sparse) sparse_types_.push_back(entry.second);
    for (const auto& entry : features_by_key.dense) {
      dense_shapes_.push_back(dense_shape_of(*entry.second));
      dense_types_.push_back(entry.second->dtype);
    }
  }
  Operation* add_batch_op(Output serialized, Output names) {
    std::vector<Output> inputs = {serialized, names};
    if (!names) inputs[1] = graph_.constant(Tensor::strings(Shape{0}, {}), "names");
    int i = 0;
    for (const auto& entry : features_.sparse)
      inputs.push_back(key("sparse_keys_", i++, entry.first));
    i = 0;
    for (const auto& entry : features_.dense)
      inputs.push_back(key("dense_keys_", i++, entry.first));
    add_defaults(inputs);
    return graph_.op("ParseExample", inputs)
        .attr("Nsparse", static_cast<int64_t>(sparse_types_.size()))
        .attr("Ndense", static_cast<int64_t>(dense_shapes_.size()))
        .attr("sparse_types", sparse_types_)
        .attr("Tdense", dense_types_)
        .attr("dense_shapes", dense_shapes_)
        .build();
  }
  Operation* add_single_op(Output serialized) {
    std::vector<std::string> sparse_keys, dense_keys;
    for (const auto& entry : features_.sparse) sparse_keys.push_back(entry.first);
    for (const auto& entry : features_.dense) dense_keys.push_back(entry.first);
    std::vector<Output> inputs = {serialized};
    add_defaults(inputs);
    return graph_.op("ParseSingleExample", inputs)
        .attr("num_sparse", static_cast<int64_t>(sparse_types_.size()))
        .attr("sparse_keys", sparse_keys)
        .attr("dense_keys", dense_keys)
        .attr("sparse_types", sparse_types_)
        .attr("Tdense", dense_types_)
        .attr("dense_shapes", dense_shapes_)
        .build();
  }

 private:
  Output key(const char* name, int i, const std::string& text) {
    return graph_.constant(Tensor::string_scalar(text), str_cat(name, i));
  }
  void add_defaults(std::vector<Output>& inputs) {
    for (const auto& entry : features_.dense)
      inputs.push_back(graph_.constant(default_tensor(*entry.second)));
  }

  Graph& graph_;
  const FeaturesByKey& features_;
  std::vector<DType> sparse_types_, dense_types_;
  std::vector<Shape> dense_shapes_;
};

// Combines two features into a sparse tensor, like tf.sparse_merge(): one contains the indices, the
// other the values.
ParsedTensor merge_sparse(Graph& graph,
                          const FeatureSpec& spec,
                          const ParsedTensor& indices_feature,
                          const ParsedTensor& values,
                          bool is_single) {
  const NameScope scope(graph, "SparseMerge");
  const Output axis = graph.scalar(DType::kInt32, 1, "axis");
  const Output positions = graph.op("ExpandDims", {indices_feature.values, axis});
  ParsedTensor result;
  result.values = values.values;
  result.dense_shape = graph.constant(Tensor::vector<int64_t>({spec.size}), "size");
  result.indices = positions;
  if (!is_single) {
    const Output rows = graph.op(
        "Slice", {indices_feature.indices, graph.int_vector({0, 0}), graph.int_vector({-1, 1})});
    const Output batch_size = graph.op(
        "Slice", {indices_feature.dense_shape, graph.int_vector({0}), graph.int_vector({1})});
    result.indices = graph.op("ConcatV2", {rows, positions, axis});
    result.dense_shape = graph.op(
        "ConcatV2", {batch_size, result.dense_shape, graph.scalar(DType::kInt32, 0, "axis")});
  }
  if (spec.already_sorted) return result;
  Operation* sorted =
      graph.op("SparseReorder", {result.indices, result.values, result.dense_shape});
  result.indices = sorted->output(0);
  result.values = sorted->output(1);
  return result;
}

}  // namespace

std::vector<std::pair<std::string, ParsedTensor>> parse_example(
    Graph& graph,
    Output serialized,
    Output names,
    const std::vector<FeatureSpec>& features,
    bool is_single,
    const std::string& name) {
  const FeaturesByKey features_by_key = group_features(features);
  const std::string scope_name = is_single ? "ParseSingleExample" : "ParseExample";
  const NameScope scope(graph, name.empty() ? scope_name : name);
  ParseOpBuilder op(graph, features_by_key);
  Operation* parsed = is_single ? op.add_single_op(serialized) : op.add_batch_op(serialized, names);
  std::map<std::string, ParsedTensor> by_key;
  const auto n = static_cast<int>(features_by_key.sparse.size());
  int i = 0;
  for (const auto& entry : features_by_key.sparse) {
    by_key[entry.first] = {parsed->output(n + i), parsed->output(i), parsed->output(2 * n + i)};
    ++i;
  }
  i = 3 * n;
  for (const auto& entry : features_by_key.dense) by_key[entry.first].values = parsed->output(i++);
  std::vector<std::pair<std::string, ParsedTensor>> result;
  for (const FeatureSpec& spec : features) {
    const bool is_sparse = spec.kind == FeatureSpec::Kind::kSparse;
    result.emplace_back(spec.key, is_sparse ? merge_sparse(graph, spec, by_key[spec.index_key],
                                                           by_key[spec.value_key], is_single)
                                            : by_key[spec.key]);
  }
  return result;
}

}  // namespace runhooks
