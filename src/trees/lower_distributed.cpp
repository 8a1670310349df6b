#include "trees/lower_distributed.h"

#include "cluster/group.h"

namespace runhooks {

Output lowered_all_reduce(Graph& g, const Output& x, int64_t group_size) {
  if (group_size == 1) return x;
  return g.op("CollectiveReduce", {x})
      .attr("group_size", group_size)
      .attr("group_key", 1)
      .attr("instance_key", g.version())
      .attr("merge_op", "Add")
      .attr("final_op", "Id")
      .attr("subdiv_offsets", std::vector<int64_t>{0});
}

// Sums statistics over processes. TensorFlow's op for several logits takes one feature and adds a
// bucket for missing values.
void lower_distributed_stats(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  const int64_t features = op.attr_int("num_features"), splits = op.attr_int("max_splits"),
                buckets = op.attr_int("num_buckets");
  const std::vector<Output> derivatives(inputs.begin() + 1, inputs.begin() + 4);
  Output local_stats;
  if (op.output_shape(0).dim(3) == 2) {
    local_stats = g.op("BoostedTreesMakeStatsSummary", {inputs.begin() + 1, inputs.end()})
                      .attr("max_splits", splits)
                      .attr("num_buckets", buckets)
                      .attr("num_features", features);
  } else {
    std::vector<Output> by_feature;
    for (auto feature = inputs.begin() + 4; feature != inputs.end(); ++feature) {
      std::vector<Output> args = derivatives;
      args.push_back(g.op("ExpandDims", {*feature, g.scalar(DType::kInt32, 1)}));
      const Output sums = g.op("BoostedTreesAggregateStats", args)
                              .attr("max_splits", splits)
                              .attr("num_buckets", buckets - 1);
      by_feature.push_back(g.op("Squeeze", {sums}).attr("squeeze_dims", std::vector<int64_t>{1}));
    }
    local_stats = g.op("Pack", by_feature).attr("axis", 0);
  }
  const Output reduced = lowered_all_reduce(g, local_stats, op.attr_int(kGroupSize));
  g.op("Identity", {reduced}).named(op.name() + "/").build();
}

void lower_distributed_quantiles(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  std::vector<Output> args;
  for (size_t i = 0; i + 1 < inputs.size(); ++i) {  // values, then optional weights
    args.push_back(g.op("CollectiveGather", {inputs[i]})
                       .attr("group_size", op.attr_int(kGroupSize))
                       .attr("group_key", 1)
                       .attr("instance_key", g.version())
                       .attr("shape", Shape::unknown()));
  }
  if (op.attr_int("num_weights") == 0) {
    args.push_back(g.constant(Tensor::vector<float>({1}), "weights"));
  }
  args.push_back(inputs.back());
  g.op("BoostedTreesMakeQuantileSummaries", args)
      .attr("num_features", op.attr_int("num_features"))
      .named(op.name() + "/")
      .build();
}

}  // namespace runhooks
