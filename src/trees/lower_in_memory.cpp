#include "trees/lower_in_memory.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>

#include "base/split_text.h"
#include "cluster/group.h"
#include "graph/func_graph.h"
#include "nn/nn_functions.h"
#include "trees/lower_distributed.h"

namespace runhooks {

// Keeps TensorFlow's order of operations, since rounding decides between splits with equal gain.
LogisticDerivatives logistic_derivatives(Graph& g,
                                         const Output& labels,
                                         const Output& logits,
                                         const Output& rows) {
  const Output one = g.scalar(DType::kFloat32, 1, "one");
  const Output e = g.op("Exp", {g.op("Neg", {logits})});
  const Output p = g.op("Reciprocal", {g.op("AddV2", {e, one})});
  const Output row_weight = g.op("Reciprocal", {rows});
  return {g.op("Mul", {g.op("Sub", {p, labels}), row_weight}),
          g.op("Mul", {g.op("Mul", {p, g.op("Sub", {one, p})}), row_weight})};
}

Output float_count_of_labels(Graph& g, const Output& labels) {
  return g.op("Cast", {g.op("Size", {labels})}).attr("DstT", DType::kFloat32);
}

namespace {

const Graph& root_of(const Graph& graph) {
  const Graph* g = &graph;
  while (g->is_function()) g = &static_cast<const FuncGraph*>(g)->outer();
  return *g;
}

// Finds the op of type `type` that uses the handle of `op`: its input `handle_index` equals input 1
// of `op`. Compares names, because each graph function has its own copy of a handle.
const Operation& find_op_with_handle(const Operation& op, const char* type, size_t handle_index) {
  const std::string& handle = op.input(1).op->name();
  for (const auto& other : root_of(op.graph()).operations()) {
    if (other->type() == type && other->inputs()[handle_index].op->name() == handle) {
      return *other;
    }
  }
  invalid_argument("Cannot export '", op.name(), "' (", op.type(), "): the graph has no ", type,
                   " with the same data.");
}

Output find_bucket_tensor(Graph& g, const std::string& name, const Operation& op) {
  const size_t colon = name.rfind(':');
  Operation* producer = g.find_operation(name.substr(0, colon));
  const int index = colon == std::string::npos ? -1 : std::atoi(name.c_str() + colon + 1);
  if (producer && index >= 0 && index < producer->num_outputs()) return producer->output(index);
  invalid_argument("Cannot export '", op.name(), "': the graph has no bucket tensor '", name, "'.");
}

}  // namespace

// Adds a variable only to keep the name of the handle in the graph; no lowered op uses it.
void lower_in_memory_handle(Graph& g, const Operation& op, const std::vector<Output>&) {
  g.op("VarHandleOp")
      .attr("dtype", DType::kFloat32)
      .attr("shape", Shape())
      .attr("shared_name", op.name())
      .named(op.name() + "/")
      .build();
}

void lower_to_no_op(Graph& g, const Operation& op, const std::vector<Output>&) {
  g.op("NoOp").named(op.name() + "/").build();
}

void lower_in_memory_logits(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  const Operation& fill = find_op_with_handle(op, "BoostedTreesInMemoryFill", 0);
  std::vector<Output> args = {inputs[0], Output(), Output()};
  for (const std::string& name : split_text(fill.attr<std::string>("buckets"), ',')) {
    args.push_back(find_bucket_tensor(g, name, op));
  }
  args[1] = g.op("ZerosLike", {args[3]});
  args[2] = g.op("Sub", {args[1], g.scalar(DType::kInt32, 1, "one")});
  Operation* predicted = g.op("BoostedTreesTrainingPredict", args)
                             .attr("num_bucketized_features", static_cast<int64_t>(args.size()) - 3)
                             .attr("logits_dimension", op.attr_int("logits_dimension"));
  g.op("Identity", {predicted->output(0)}).named(op.name() + "/").build();
}

void lower_in_memory_logistic(Graph& g, const Operation& op, const std::vector<Output>&) {
  const Output& label_input = find_op_with_handle(op, "BoostedTreesInMemoryLabels", 0).input(1);
  const Output labels(g.find_operation(label_input.op->name()), label_input.index);
  const Output logits =
      g.find_operation(find_op_with_handle(op, "BoostedTreesInMemoryLogits", 1).name())->output(0);
  const Output losses = sigmoid_cross_entropy_with_logits(g, labels, logits);
  const int64_t processes =
      find_op_with_handle(op, "BoostedTreesInMemoryFill", 0).attr_int(kGroupSize);
  const Output rows = lowered_all_reduce(g, float_count_of_labels(g, labels), processes);
  Output loss = g.op("Mean", {losses, g.int_vector({0, 1})});
  if (processes > 1) {
    const Output sum = g.op("Sum", {losses, g.int_vector({0, 1})});
    const Output scaled_sum =
        g.op("Mul", {sum, g.scalar(DType::kFloat32, static_cast<double>(processes))});
    loss = g.op("RealDiv", {scaled_sum, rows});
  }
  const LogisticDerivatives derivatives = logistic_derivatives(g, labels, logits, rows);
  g.op("IdentityN", {loss, derivatives.gradients, derivatives.hessians})
      .named(op.name() + "/")
      .build();
}

namespace {

Output float_constant(Graph& g, const Operation& op, const char* attr) {
  return g.scalar(DType::kFloat32, static_cast<double>(op.attr<float>(attr)), attr);
}

// Returns the inputs of an op that adds splits to the trees: ensemble, feature ids, `splits` and
// settings.
std::vector<Output> update_inputs(Graph& g,
                                  const Operation& op,
                                  const Output& ensemble,
                                  const std::vector<Output>& splits,
                                  int num_features) {
  std::vector<int32_t> ids(static_cast<size_t>(num_features));
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<Output> inputs = {ensemble, g.constant(Tensor::vector<int32_t>(ids), "feature_ids")};
  inputs.insert(inputs.end(), splits.begin(), splits.end());
  const auto max_depth = static_cast<double>(op.attr_int("max_depth"));
  inputs.push_back(g.scalar(DType::kInt32, max_depth, "max_depth"));
  inputs.push_back(float_constant(g, op, "learning_rate"));
  return inputs;
}

// With several logits, each feature has its own histogram of the gradients and hessians by logit.
void lower_multi_logit_grow_layer(Graph& g,
                                  const Operation& op,
                                  const std::vector<Output>& inputs,
                                  Operation& predicted) {
  const auto features = static_cast<int>(predicted.inputs().size()) - 3;
  const int64_t logits = predicted.attr_int("logits_dimension");
  const int64_t max_depth = op.attr_int("max_depth"), max_splits = (int64_t{1} << max_depth) - 1;
  Operation* states = g.op("BoostedTreesGetEnsembleStates", {inputs[0]});
  std::vector<std::vector<Output>> lists(7);
  // For each input list of the update op, the index of the split op's output that belongs to it.
  constexpr size_t kOrder[] = {2, 0, 1, 3, 4, 5, 6};
  for (int i = 0; i < features; ++i) {
    const Output& bucket = predicted.inputs()[static_cast<size_t>(3 + i)];
    const Output column = g.op("ExpandDims", {bucket, g.scalar(DType::kInt32, 1)});
    const Output local_stats =
        g.op("BoostedTreesAggregateStats", {predicted.output(2), inputs[2], inputs[3], column})
            .attr("max_splits", max_splits)
            .attr("num_buckets", op.attr_int("num_buckets"));
    const Output stats = lowered_all_reduce(g, local_stats, op.attr_int(kGroupSize));
    Operation* best =
        g.op("BoostedTreesCalculateBestFeatureSplit",
             {states->output(4), stats, float_constant(g, op, "l1"), float_constant(g, op, "l2"),
              float_constant(g, op, "tree_complexity"), float_constant(g, op, "min_node_weight")})
            .attr("logits_dimension", logits);
    for (size_t k = 0; k < lists.size(); ++k) {
      lists[k].push_back(best->output(static_cast<int>(kOrder[k])));
    }
  }
  std::vector<Output> splits;
  for (const auto& list : lists) splits.insert(splits.end(), list.begin(), list.end());
  std::vector<Output> update = update_inputs(g, op, inputs[0], splits, features);
  update.push_back(
      g.scalar(DType::kInt32, static_cast<double>(op.attr_int("pruning_mode")), "pruning_mode"));
  g.op("BoostedTreesUpdateEnsembleV2", update)
      .attr("num_features", int64_t{features})
      .named(op.name() + "/")
      .build();
}

}  // namespace

// For one logit, TensorFlow's op has one histogram for all features, with as many buckets as the
// widest feature. A split at an empty bucket never wins.
void lower_grow_layer(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  Operation* logits =
      root_of(g).find_operation(find_op_with_handle(op, "BoostedTreesInMemoryLogits", 1).name());
  Operation& predicted = *logits->input(0).op;
  if (predicted.attr_int("logits_dimension") > 1) {
    return lower_multi_logit_grow_layer(g, op, inputs, predicted);
  }
  const auto features = static_cast<int>(predicted.inputs().size()) - 3;
  const int64_t max_depth = op.attr_int("max_depth"), max_splits = (int64_t{1} << max_depth) - 1;
  std::vector<Output> sums = {predicted.output(2), inputs[2], inputs[3]};
  sums.insert(sums.end(), predicted.inputs().begin() + 3, predicted.inputs().end());
  const Output local_stats = g.op("BoostedTreesMakeStatsSummary", sums)
                                 .attr("max_splits", max_splits)
                                 .attr("num_buckets", op.attr_int("num_buckets"))
                                 .attr("num_features", int64_t{features});
  const Output summary = lowered_all_reduce(g, local_stats, op.attr_int(kGroupSize));
  Operation* unpacked = g.op("Unpack", {summary}).attr("num", int64_t{features}).attr("axis", 0);
  Operation* states = g.op("BoostedTreesGetEnsembleStates", {inputs[0]});

  std::vector<Output> split_inputs = {states->output(4)};
  const std::vector<Output> stats = unpacked->outputs();
  split_inputs.insert(split_inputs.end(), stats.begin(), stats.end());
  for (const char* name : {"l1", "l2", "tree_complexity", "min_node_weight"}) {
    split_inputs.push_back(float_constant(g, op, name));
  }
  Operation* best = g.op("BoostedTreesCalculateBestGainsPerFeature", split_inputs)
                        .attr("max_splits", max_splits)
                        .attr("num_features", int64_t{features});

  g.op("BoostedTreesUpdateEnsemble", update_inputs(g, op, inputs[0], best->outputs(), features))
      .attr("pruning_mode", op.attr_int("pruning_mode"))
      .attr("num_features", int64_t{features})
      .named(op.name() + "/")
      .build();
}

}  // namespace runhooks
