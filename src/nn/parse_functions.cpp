#include "nn/parse_functions.h"

#include <cstring>
#include <map>

namespace runhooks {

namespace {

struct Wanted {
  std::map<std::string, DType> sparse;
  std::map<std::string, const FeatureSpec*> dense;
};

void want_sparse(Wanted& wanted, const std::string& key, DType dtype) {
  const auto added = wanted.sparse.emplace(key, dtype);
  if (!added.second && added.first->second != dtype) {
    invalid_argument("Conflicting type for feature ", key, ": ", dtype_name(added.first->second),
                     " and ", dtype_name(dtype), ".");
  }
}

void check_spec(const FeatureSpec& spec) {
  const bool good =
      spec.dtype == DType::kFloat32 || spec.dtype == DType::kInt64 || spec.dtype == DType::kString;
  if (!good) {
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

Wanted wanted_of(const std::vector<FeatureSpec>& features) {
  Wanted wanted;
  if (features.empty()) invalid_argument("Missing: features was empty.");
  for (const FeatureSpec& spec : features) {
    check_spec(spec);
    if (spec.kind == FeatureSpec::Kind::kVarLen) want_sparse(wanted, spec.key, spec.dtype);
    if (spec.kind == FeatureSpec::Kind::kSparse) {
      want_sparse(wanted, spec.index_key, DType::kInt64);
      want_sparse(wanted, spec.value_key, spec.dtype);
    }
    const bool is_dense = spec.kind == FeatureSpec::Kind::kFixedLen ||
                          spec.kind == FeatureSpec::Kind::kFixedLenSequence;
    if (is_dense) wanted.dense[spec.key] = &spec;
  }
  for (const auto& entry : wanted.dense) {
    if (!wanted.sparse.count(entry.first)) continue;
    invalid_argument("Dense and sparse keys must not intersect; intersection: ", entry.first, ".");
  }
  return wanted;
}

Shape op_shape(const FeatureSpec& spec) {
  if (spec.kind == FeatureSpec::Kind::kFixedLen) return spec.shape;
  Shape shape{-1};
  for (int i = 0; i < spec.shape.rank(); ++i) shape.append(spec.shape.dim(i));
  return shape;
}

Tensor default_of(const FeatureSpec& spec) {
  const Tensor& given = spec.default_value;
  const bool is_sequence = spec.kind == FeatureSpec::Kind::kFixedLenSequence;
  if (!given.is_valid()) {
    return is_sequence ? Tensor::zeros(spec.dtype, Shape()) : Tensor(spec.dtype, Shape{0});
  }
  if (is_sequence) return given.reshaped(Shape());
  if (given.num_elements() == spec.shape.num_elements()) return given.reshaped(spec.shape);
  if (given.num_elements() != 1) {
    invalid_argument("Feature '", spec.key, "' of shape ", spec.shape, " has a default of ",
                     given.num_elements(), " values; use one value, or one per element.");
  }
  if (spec.dtype == DType::kString) {
    const auto n = static_cast<size_t>(spec.shape.num_elements());
    return Tensor::strings(spec.shape, std::vector<std::string>(n, given.string_at(0)));
  }
  Tensor all(spec.dtype, spec.shape);
  const size_t size = dtype_size(spec.dtype);
  for (int64_t i = 0; i < all.num_elements(); ++i) {
    std::memcpy(static_cast<char*>(all.raw()) + static_cast<size_t>(i) * size, given.raw(), size);
  }
  return all;
}

// Adds the op; its outputs are looked up by key.
class ParseOp {
 public:
  ParseOp(Graph& graph, const Wanted& wanted) : graph_(graph), wanted_(wanted) {
    for (const auto& entry : wanted.sparse) types_.push_back(entry.second);
    for (const auto& entry : wanted.dense) {
      shapes_.push_back(op_shape(*entry.second));
      dense_types_.push_back(entry.second->dtype);
    }
  }
  Operation* of_batch(Output serialized, Output names) {
    std::vector<Output> inputs = {serialized, names};
    if (!names) inputs[1] = graph_.constant(Tensor::strings(Shape{0}, {}), "names");
    int i = 0;
    for (const auto& entry : wanted_.sparse)
      inputs.push_back(key("sparse_keys_", i++, entry.first));
    i = 0;
    for (const auto& entry : wanted_.dense) inputs.push_back(key("dense_keys_", i++, entry.first));
    add_defaults(inputs);
    return graph_.op("ParseExample", inputs)
        .attr("Nsparse", static_cast<int64_t>(types_.size()))
        .attr("Ndense", static_cast<int64_t>(shapes_.size()))
        .attr("sparse_types", types_)
        .attr("Tdense", dense_types_)
        .attr("dense_shapes", shapes_)
        .build();
  }
  Operation* of_one(Output serialized) {
    std::vector<std::string> sparse_keys, dense_keys;
    for (const auto& entry : wanted_.sparse) sparse_keys.push_back(entry.first);
    for (const auto& entry : wanted_.dense) dense_keys.push_back(entry.first);
    std::vector<Output> inputs = {serialized};
    add_defaults(inputs);
    return graph_.op("ParseSingleExample", inputs)
        .attr("num_sparse", static_cast<int64_t>(types_.size()))
        .attr("sparse_keys", sparse_keys)
        .attr("dense_keys", dense_keys)
        .attr("sparse_types", types_)
        .attr("Tdense", dense_types_)
        .attr("dense_shapes", shapes_)
        .build();
  }

 private:
  Output key(const char* name, int i, const std::string& text) {
    return graph_.constant(Tensor::string_scalar(text), str_cat(name, i));
  }
  void add_defaults(std::vector<Output>& inputs) {
    for (const auto& entry : wanted_.dense)
      inputs.push_back(graph_.constant(default_of(*entry.second)));
  }

  Graph& graph_;
  const Wanted& wanted_;
  std::vector<DType> types_, dense_types_;
  std::vector<Shape> shapes_;
};

// tf.sparse_merge(): scatters values to the indices in another feature.
ParsedTensor merged(Graph& graph,
                    const FeatureSpec& spec,
                    const ParsedTensor& at,
                    const ParsedTensor& values,
                    bool is_single) {
  const NameScope scope(graph, "SparseMerge");
  const Output axis = graph.scalar(DType::kInt32, 1, "axis");
  const Output place = graph.op("ExpandDims", {at.values, axis});
  ParsedTensor result;
  result.values = values.values;
  result.dense_shape = graph.constant(Tensor::vector<int64_t>({spec.size}), "size");
  result.indices = place;
  if (!is_single) {
    const Output rows =
        graph.op("Slice", {at.indices, graph.int_vector({0, 0}), graph.int_vector({-1, 1})});
    const Output first =
        graph.op("Slice", {at.dense_shape, graph.int_vector({0}), graph.int_vector({1})});
    result.indices = graph.op("ConcatV2", {rows, place, axis});
    result.dense_shape =
        graph.op("ConcatV2", {first, result.dense_shape, graph.scalar(DType::kInt32, 0, "axis")});
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
  const Wanted wanted = wanted_of(features);
  const std::string scope_name = is_single ? "ParseSingleExample" : "ParseExample";
  const NameScope scope(graph, name.empty() ? scope_name : name);
  ParseOp op(graph, wanted);
  Operation* parsed = is_single ? op.of_one(serialized) : op.of_batch(serialized, names);
  std::map<std::string, ParsedTensor> by_key;
  const auto n = static_cast<int>(wanted.sparse.size());
  int i = 0;
  for (const auto& entry : wanted.sparse) {
    by_key[entry.first] = {parsed->output(n + i), parsed->output(i), parsed->output(2 * n + i)};
    ++i;
  }
  i = 3 * n;
  for (const auto& entry : wanted.dense) by_key[entry.first].values = parsed->output(i++);
  std::vector<std::pair<std::string, ParsedTensor>> result;
  for (const FeatureSpec& spec : features) {
    const bool is_sparse = spec.kind == FeatureSpec::Kind::kSparse;
    result.emplace_back(spec.key, is_sparse ? merged(graph, spec, by_key[spec.index_key],
                                                     by_key[spec.value_key], is_single)
                                            : by_key[spec.key]);
  }
  return result;
}

}  // namespace runhooks
