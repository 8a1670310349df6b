#include "estimators/models/trees_in_memory.h"

#include <algorithm>

#include "graph/endpoints.h"
#include "nn/replicas.h"
#include "trees/fill_trees_hook.h"
#include "trees/in_memory_trees.h"

namespace runhooks {

const char* const kSameRows = "same_rows";

bool has_same_rows(const Graph& graph) { return !endpoint(graph, kSameRows).empty(); }

std::vector<int64_t> predictors_of(const std::vector<TreeFeature>& features) {
  TreeModelView view;
  view.features = features;
  return view.column_of_feature();
}

void check_sampling(const InMemoryTreeBuilder::Rules& rules,
                    const std::vector<TreeFeature>& features,
                    bool is_in_memory) {
  if (!is_in_memory) {
    throw Error(Code::kInvalidArgument,
                str_cat("`", rules.mtry > 0 ? "mtry" : "sample_size",
                        "` needs a model from a formula that reads all rows in each step."),
                {"Create the model from a formula and train it without `batch_size`."});
  }
  const std::vector<int64_t> columns = predictors_of(features);
  const int64_t num_predictors = *std::max_element(columns.begin(), columns.end()) + 1;
  if (rules.mtry <= num_predictors) return;
  invalid_argument("`mtry` is ", rules.mtry, ", but the model has only ", num_predictors,
                   num_predictors == 1 ? " predictor." : " predictors.");
}

// Adds the op that bins the rows. Its inputs are numbers instead of their int32 buckets, which
// would need four times the memory of the bins.
Operation* InMemoryTreeBuilder::add_fill(Graph& graph,
                                         const Output& ready,
                                         const std::vector<int64_t>& groups) const {
  std::vector<Output> inputs = {data_, ready}, numbers, edges;
  std::vector<int64_t> are_numbers;
  std::string bucket_names;
  for (size_t i = 0; i < input_.buckets.size(); ++i) {
    const Output& bucket = input_.buckets[i];
    const TreeInput::Source& source = input_.sources.at(i);
    bucket_names += str_cat(i > 0 ? "," : "", bucket.op->name(), ":", bucket.index);
    are_numbers.push_back(source.x ? 1 : 0);
    if (source.x) {
      numbers.push_back(source.x);
      edges.push_back(source.edges);
    } else {
      inputs.push_back(bucket);
    }
  }
  const auto bucketized = static_cast<int64_t>(inputs.size()) - 2;
  inputs.insert(inputs.end(), numbers.begin(), numbers.end());
  inputs.insert(inputs.end(), edges.begin(), edges.end());
  ReplicaScope* replicas = ReplicaScope::of(graph);
  const std::vector<Operation*> control_inputs =
      replicas ? std::vector<Operation*>{replicas->data_gate()} : std::vector<Operation*>();
  return graph.op("BoostedTreesInMemoryFill", inputs)
      .after(control_inputs)
      .attr("group_size", replicas_of(graph))
      .attr("num_bucketized", bucketized)
      .attr("num_numbers", static_cast<int64_t>(numbers.size()))
      .attr("are_numbers", are_numbers)
      .attr("groups", groups)
      .attr("predictors", predictors_of(features_))
      .attr("logits_dimension", int64_t{options_.logits})
      .attr("is_by_tree", options_.is_by_tree)
      .attr("buckets", bucket_names);
}

Output InMemoryTreeBuilder::logits(Graph& graph, const Output& ready, bool is_logistic) {
  std::vector<int64_t> groups;
  for (const TreeFeature& feature : features_) {
    // The index of the first feature of the column identifies the group.
    const auto first_category = static_cast<int64_t>(groups.size()) - feature.element;
    const bool is_missing_highest = feature.missing == TreeFeature::Missing::kIsHighest;
    groups.push_back(feature.group == TreeFeature::Group::kMultiHot ? first_category
                     : is_missing_highest                           ? kMissingInLastBucket
                                                                    : -1);
  }
  data_ = graph.op("BoostedTreesInMemoryHandle", {});
  Operation* fill = add_fill(graph, ready, groups);
  fill_ops_ = {fill};
  OpBuilder logits = graph
                         .op("BoostedTreesInMemoryLogits",
                             {ensemble_, data_, endpoint(graph, kSameRows)[0].second})
                         .attr("logits_dimension", int64_t{options_.logits});
  return is_logistic ? Output(logits) : ordered_collective(graph, logits)->output(0);
}

Output InMemoryTreeBuilder::logistic_loss(Graph& graph, const Output& labels) {
  fill_ops_.push_back(graph.op("BoostedTreesInMemoryLabels", {data_, labels}));
  Operation* op =
      ordered_collective(graph, graph.op("BoostedTreesInMemoryLogisticLoss",
                                         {ensemble_, data_, endpoint(graph, kSameRows)[0].second}));
  logistic_derivatives_ = {op->output(1), op->output(2)};
  const NameScope scope(graph, "weighted_loss");
  return graph.op("Identity", {op->output(0)}).named("value");
}

HookPtr InMemoryTreeBuilder::hook() const { return fill_trees_hook(data_, fill_ops_); }

Operation* InMemoryTreeBuilder::grow(Graph& graph,
                                     const Output& gradients,
                                     const Output& hessians,
                                     const Rules& rules) {
  const auto to_float = [](double x) { return static_cast<float>(x); };
  int64_t buckets = 1;
  for (const TreeFeature& feature : features_) buckets = std::max(buckets, feature.max_buckets());
  const std::vector<Output> inputs = {ensemble_, data_, gradients, hessians};
  return ordered_collective(graph, graph.op("BoostedTreesInMemoryGrowLayer", inputs)
                                       .attr("group_size", replicas_of(graph))
                                       .attr("l1", to_float(rules.l1))
                                       .attr("l2", to_float(rules.l2))
                                       .attr("tree_complexity", to_float(rules.tree_complexity))
                                       .attr("min_node_weight", to_float(rules.min_node_weight))
                                       .attr("learning_rate", to_float(rules.learning_rate))
                                       .attr("max_depth", rules.max_depth)
                                       .attr("pruning_mode", static_cast<int64_t>(rules.pruning))
                                       .attr("stop_when_no_split", rules.from_formula)
                                       .attr("weighs_sides", rules.from_formula)
                                       .attr("sample_size", to_float(rules.sample_size))
                                       .attr("mtry", rules.mtry)
                                       .attr("seed", rules.seed)
                                       .attr("num_buckets", buckets));
}

}  // namespace runhooks
