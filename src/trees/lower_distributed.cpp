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

// TensorFlow's op for several logits takes one feature and adds a bucket for missing values.
void lower_distributed_stats(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  const int64_t features = op.attr_int("num_features"), splits = op.attr_int("max_splits"),
                buckets = op.attr_int("num_buckets");
  const std::vector<Output> rows(inputs.begin() + 1, inputs.begin() + 4);
  Output own;
  if (op.output_shape(0).dim(3) == 2) {
    own = g.op("BoostedTreesMakeStatsSummary", {inputs.begin() + 1, inputs.end()})
              .attr("max_splits", splits)
              .attr("num_buckets", buckets)
              .attr("num_features", features);
  } else {
    std::vector<Output> each;
    for (auto feature = inputs.begin() + 4; feature != inputs.end(); ++feature) {
      std::vector<Output> given = rows;
      given.push_back(g.op("ExpandDims", {*feature, g.scalar(DType::kInt32, 1)}));
      const Output sums = g.op("BoostedTreesAggregateStats", given)
                              .attr("max_splits", splits)
                              .attr("num_buckets", buckets - 1);
      each.push_back(g.op("Squeeze", {sums}).attr("squeeze_dims", std::vector<int64_t>{1}));
    }
    own = g.op("Pack", each).attr("axis", 0);
  }
  const Output all = lowered_all_reduce(g, own, op.attr_int(kGroupSize));
  g.op("Identity", {all}).named(op.name() + "/").build();
}

void lower_distributed_quantiles(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  std::vector<Output> given;
  for (size_t i = 0; i + 1 < inputs.size(); ++i) {  // values, then weights if there are any
    given.push_back(g.op("CollectiveGather", {inputs[i]})
                        .attr("group_size", op.attr_int(kGroupSize))
                        .attr("group_key", 1)
                        .attr("instance_key", g.version())
                        .attr("shape", Shape::unknown()));
  }
  if (op.attr_int("num_weights") == 0) {
    given.push_back(g.constant(Tensor::vector<float>({1}), "weights"));
  }
  given.push_back(inputs.back());
  g.op("BoostedTreesMakeQuantileSummaries", given)
      .attr("num_features", op.attr_int("num_features"))
      .named(op.name() + "/")
      .build();
}

}  // namespace runhooks
