#include "estimators/trees_in_memory.h"

#include <algorithm>

#include "graph/endpoints.h"
#include "trees/fill_trees_hook.h"
#include "trees/in_memory_trees.h"

namespace runhooks {

const char* const kSameRows = "same_rows";

bool has_same_rows(const Graph& graph) { return !endpoint(graph, kSameRows).empty(); }

Output TreesInMemory::logits(Graph& graph, const Output& ready) {
  std::vector<int64_t> groups;
  for (const TreeFeature& feature : features_) {
    // the number of the first word of its column
    const auto number = static_cast<int64_t>(groups.size()) - feature.element;
    const bool is_other_side = feature.missing == TreeFeature::Missing::kIsMost;
    groups.push_back(feature.group == TreeFeature::Group::kWords ? number
                     : is_other_side                             ? kOtherSide
                                                                 : -1);
  }
  data_ = graph.op("BoostedTreesInMemoryHandle", {});
  std::vector<Output> inputs = {data_, ready};
  inputs.insert(inputs.end(), input_.buckets.begin(), input_.buckets.end());
  // before the logits: in a step that has both they are in this order
  Operation* fill = graph.op("BoostedTreesInMemoryFill", inputs)
                        .attr("num_features", static_cast<int64_t>(features_.size()))
                        .attr("groups", groups);
  fill_ = {fill};
  return graph.op("BoostedTreesInMemoryLogits",
                  {ensemble_, data_, endpoint(graph, kSameRows)[0].second});
}

Output TreesInMemory::logistic_loss(Graph& graph, const Output& labels) {
  fill_.push_back(graph.op("BoostedTreesInMemoryLabels", {data_, labels}));
  Operation* op = graph.op("BoostedTreesInMemoryLogisticLoss",
                           {ensemble_, data_, endpoint(graph, kSameRows)[0].second});
  logistic_ = {op->output(1), op->output(2)};
  const NameScope scope(graph, "weighted_loss");
  return graph.op("Identity", {op->output(0)}).named("value");
}

HookPtr TreesInMemory::hook() const { return fill_trees(data_, fill_); }

Operation* TreesInMemory::grow(Graph& graph,
                               const Output& gradients,
                               const Output& hessians,
                               const Rules& rules) {
  const auto number = [](double x) { return static_cast<float>(x); };
  int64_t buckets = 1;
  for (const TreeFeature& feature : features_) buckets = std::max(buckets, feature.most_buckets());
  return graph
      .op("BoostedTreesInMemoryGrowLayer", {ensemble_, data_, gradients, hessians})
      .attr("l1", number(rules.l1))
      .attr("l2", number(rules.l2))
      .attr("tree_complexity", number(rules.tree_complexity))
      .attr("min_node_weight", number(rules.min_node_weight))
      .attr("learning_rate", number(rules.learning_rate))
      .attr("max_depth", rules.max_depth)
      .attr("pruning_mode", static_cast<int64_t>(rules.pruning))
      .attr("num_buckets", buckets);
}

}  // namespace runhooks
