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
  const Output part = g.op("Reciprocal", {rows});
  return {g.op("Mul", {g.op("Sub", {p, labels}), part}),
          g.op("Mul", {g.op("Mul", {p, g.op("Sub", {one, p})}), part})};
}

Output number_of(Graph& g, const Output& labels) {
  return g.op("Cast", {g.op("Size", {labels})}).attr("DstT", DType::kFloat32);
}

namespace {

const Graph& root_of(const Graph& graph) {
  const Graph* g = &graph;
  while (g->is_function()) g = &static_cast<const FuncGraph*>(g)->outer();
  return *g;
}

// The op of this type that uses the same data. Compares names, since functions copy handles.
const Operation& find_op_with_handle(const Operation& op,
                                     const char* type,
                                     size_t handle_of_partner) {
  const std::string& handle = op.input(1).op->name();
  for (const auto& other : root_of(op.graph()).operations()) {
    if (other->type() == type && other->inputs()[handle_of_partner].op->name() == handle) {
      return *other;
    }
  }
  invalid_argument("Cannot export '", op.name(), "' (", op.type(), "): the graph has no ", type,
                   " with the same data.");
}

Output bucket_of(Graph& g, const std::string& name, const Operation& op) {
  const size_t colon = name.rfind(':');
  Operation* made = g.find_operation(name.substr(0, colon));
  const int index = colon == std::string::npos ? -1 : std::atoi(name.c_str() + colon + 1);
  if (made && index >= 0 && index < made->num_outputs()) return made->output(index);
  invalid_argument("Cannot export '", op.name(), "': the graph has no bucket tensor '", name, "'.");
}

std::vector<Output> outputs_of(Operation& op) {
  std::vector<Output> all;
  for (int i = 0; i < op.num_outputs(); ++i) all.push_back(op.output(i));
  return all;
}

}  // namespace

// An unused placeholder for the handle.
void lower_in_memory_handle(Graph& g, const Operation& op, const std::vector<Output>&) {
  g.op("VarHandleOp")
      .attr("dtype", DType::kFloat32)
      .attr("shape", Shape())
      .attr("shared_name", op.name())
      .named(op.name() + "/")
      .build();
}

void lower_in_memory_fill(Graph& g, const Operation& op, const std::vector<Output>&) {
  g.op("NoOp").named(op.name() + "/").build();
}

void lower_in_memory_logits(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  const Operation& fill = find_op_with_handle(op, "BoostedTreesInMemoryFill", 0);
  std::vector<Output> given = {inputs[0], Output(), Output()};
  for (const std::string& name : split_text(fill.attr<std::string>("buckets"), ',')) {
    given.push_back(bucket_of(g, name, op));
  }
  given[1] = g.op("ZerosLike", {given[3]});
  given[2] = g.op("Sub", {given[1], g.scalar(DType::kInt32, 1, "one")});
  Operation* predicted =
      g.op("BoostedTreesTrainingPredict", given)
          .attr("num_bucketized_features", static_cast<int64_t>(given.size()) - 3)
          .attr("logits_dimension", op.attr_int("logits_dimension"));
  g.op("Identity", {predicted->output(0)}).named(op.name() + "/").build();
}

void lower_in_memory_labels(Graph& g, const Operation& op, const std::vector<Output>&) {
  g.op("NoOp").named(op.name() + "/").build();
}

void lower_in_memory_logistic(Graph& g, const Operation& op, const std::vector<Output>&) {
  const Output& kept = find_op_with_handle(op, "BoostedTreesInMemoryLabels", 0).input(1);
  const Output labels(g.find_operation(kept.op->name()), kept.index);
  const Output logits =
      g.find_operation(find_op_with_handle(op, "BoostedTreesInMemoryLogits", 1).name())->output(0);
  const Output losses = sigmoid_cross_entropy_with_logits(g, labels, logits);
  const int64_t processes =
      find_op_with_handle(op, "BoostedTreesInMemoryFill", 0).attr_int(kGroupSize);
  const Output rows = lowered_all_reduce(g, number_of(g, labels), processes);
  Output loss = g.op("Mean", {losses, g.int_vector({0, 1})});
  if (processes > 1) {
    const Output sum = g.op("Sum", {losses, g.int_vector({0, 1})});
    const Output of_all =
        g.op("Mul", {sum, g.scalar(DType::kFloat32, static_cast<double>(processes))});
    loss = g.op("RealDiv", {of_all, rows});
  }
  const LogisticDerivatives by = logistic_derivatives(g, labels, logits, rows);
  g.op("IdentityN", {loss, by.gradients, by.hessians}).named(op.name() + "/").build();
}

namespace {

// With several logits, each feature has its own histogram of the gradients and hessians by logit.
void lower_grow_layer_of_several(Graph& g,
                                 const Operation& op,
                                 const std::vector<Output>& inputs,
                                 Operation& predicted) {
  const auto features = static_cast<int>(predicted.inputs().size()) - 3;
  const int64_t logits = predicted.attr_int("logits_dimension");
  const int64_t max_depth = op.attr_int("max_depth"), max_splits = (int64_t{1} << max_depth) - 1;
  const auto number = [&](const char* name) {
    return Output(g.scalar(DType::kFloat32, static_cast<double>(op.attr<float>(name)), name));
  };
  Operation* states = g.op("BoostedTreesGetEnsembleStates", {inputs[0]});
  std::vector<std::vector<Output>> lists(7);
  constexpr size_t kOrder[] = {2, 0, 1, 3, 4, 5, 6};
  for (int i = 0; i < features; ++i) {
    const Output& bucket = predicted.inputs()[static_cast<size_t>(3 + i)];
    const Output column = g.op("ExpandDims", {bucket, g.scalar(DType::kInt32, 1)});
    const Output own =
        g.op("BoostedTreesAggregateStats", {predicted.output(2), inputs[2], inputs[3], column})
            .attr("max_splits", max_splits)
            .attr("num_buckets", op.attr_int("num_buckets"));
    const Output stats = lowered_all_reduce(g, own, op.attr_int(kGroupSize));
    Operation* best = g.op("BoostedTreesCalculateBestFeatureSplit",
                           {states->output(4), stats, number("l1"), number("l2"),
                            number("tree_complexity"), number("min_node_weight")})
                          .attr("logits_dimension", logits);
    for (size_t k = 0; k < lists.size(); ++k) {
      lists[k].push_back(best->output(static_cast<int>(kOrder[k])));
    }
  }
  std::vector<int32_t> ids(static_cast<size_t>(features));
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<Output> update = {inputs[0], g.constant(Tensor::vector<int32_t>(ids), "feature_ids")};
  for (const auto& list : lists) update.insert(update.end(), list.begin(), list.end());
  update.push_back(g.scalar(DType::kInt32, static_cast<double>(max_depth), "max_depth"));
  update.push_back(number("learning_rate"));
  update.push_back(
      g.scalar(DType::kInt32, static_cast<double>(op.attr_int("pruning_mode")), "pruning_mode"));
  g.op("BoostedTreesUpdateEnsembleV2", update)
      .attr("num_features", int64_t{features})
      .named(op.name() + "/")
      .build();
}

}  // namespace

// One histogram for all features, as wide as the widest; empty buckets cannot win.
void lower_grow_layer(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  Operation* logits =
      root_of(g).find_operation(find_op_with_handle(op, "BoostedTreesInMemoryLogits", 1).name());
  Operation& predicted = *logits->input(0).op;
  if (predicted.attr_int("logits_dimension") > 1) {
    return lower_grow_layer_of_several(g, op, inputs, predicted);
  }
  const auto features = static_cast<int>(predicted.inputs().size()) - 3;
  const int64_t max_depth = op.attr_int("max_depth"), max_splits = (int64_t{1} << max_depth) - 1;
  std::vector<Output> sums = {predicted.output(2), inputs[2], inputs[3]};
  sums.insert(sums.end(), predicted.inputs().begin() + 3, predicted.inputs().end());
  const Output own = g.op("BoostedTreesMakeStatsSummary", sums)
                         .attr("max_splits", max_splits)
                         .attr("num_buckets", op.attr_int("num_buckets"))
                         .attr("num_features", int64_t{features});
  const Output summary = lowered_all_reduce(g, own, op.attr_int(kGroupSize));
  Operation* each = g.op("Unpack", {summary}).attr("num", int64_t{features}).attr("axis", 0);
  Operation* states = g.op("BoostedTreesGetEnsembleStates", {inputs[0]});

  std::vector<Output> judged = {states->output(4)};
  const std::vector<Output> stats = outputs_of(*each);
  judged.insert(judged.end(), stats.begin(), stats.end());
  for (const char* name : {"l1", "l2", "tree_complexity", "min_node_weight"}) {
    judged.push_back(g.scalar(DType::kFloat32, static_cast<double>(op.attr<float>(name)), name));
  }
  Operation* best = g.op("BoostedTreesCalculateBestGainsPerFeature", judged)
                        .attr("max_splits", max_splits)
                        .attr("num_features", int64_t{features});

  std::vector<int32_t> ids(static_cast<size_t>(features));
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<Output> update = {inputs[0], g.constant(Tensor::vector<int32_t>(ids), "feature_ids")};
  const std::vector<Output> lists = outputs_of(*best);
  update.insert(update.end(), lists.begin(), lists.end());
  update.push_back(g.scalar(DType::kInt32, static_cast<double>(max_depth), "max_depth"));
  update.push_back(g.scalar(DType::kFloat32, static_cast<double>(op.attr<float>("learning_rate")),
                            "learning_rate"));
  g.op("BoostedTreesUpdateEnsemble", update)
      .attr("pruning_mode", op.attr_int("pruning_mode"))
      .attr("num_features", int64_t{features})
      .named(op.name() + "/")
      .build();
}

}  // namespace runhooks
