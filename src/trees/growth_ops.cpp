// A layer more: the best splits become nodes, trees are finished, pruned and begun; and the bias
// before the first of them.
#include <algorithm>
#include <map>

#include "graph/op_registry.h"
#include "trees/ensemble_resource.h"
#include "trees/gains.h"
#include "trees/growth.h"

namespace runhooks {

namespace {

EnsembleResource& grown_trees(KernelContext& c) { return c.input_resource<EnsembleResource>(0); }

std::vector<float> row_of(const Tensor& x, int64_t row, float factor) {
  const int64_t width = x.shape().dim(1);
  std::vector<float> values(static_cast<size_t>(width));
  for (int64_t k = 0; k < width; ++k) {
    values[static_cast<size_t>(k)] = factor * x.data<float>()[row * width + k];
  }
  return values;
}

// The inputs of one feature, which are lists of as many features as `features` has.
struct FeatureInputs {
  const Tensor &nodes, &gains, &thresholds, &left, &right;
  void check(int64_t feature) const {
    const int64_t n = nodes.num_elements();
    const bool fits = gains.num_elements() == n && thresholds.num_elements() == n &&
                      left.shape().dim(0) == n && right.shape().dim(0) == n &&
                      left.shape().dim(1) == right.shape().dim(1);
    if (fits) return;
    invalid_argument("The splits by feature ", feature,
                     " need a gain, a threshold and two contributions for each of ", n, " nodes.");
  }
};

class UpdateEnsembleKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int n = static_cast<int>(c.op().attr_int("num_features"));
    const Tensor& ids = c.input(1);
    if (ids.num_elements() != n) {
      invalid_argument("There must be ", n, " feature ids, one for each list; got ",
                       ids.num_elements(), ".");
    }
    LayerGrowth growth;
    growth.max_depth = *c.input(2 + 5 * n).data<int32_t>();
    growth.pruning = pruning_of(c.op().attr_int("pruning_mode"));
    const float rate = *c.input(3 + 5 * n).data<float>();
    BestSplits best;
    for (int f = 0; f < n; ++f) {
      const auto input = [&c, n, f](int list) -> const Tensor& { return c.input(2 + list * n + f); };
      const FeatureInputs of_feature{input(0), input(1), input(2), input(3), input(4)};
      const int32_t feature = ids.data<int32_t>()[f];
      of_feature.check(feature);
      for (int64_t i = 0; i < of_feature.nodes.num_elements(); ++i) {
        Split split;
        split.question.kind = TreeNode::Kind::kBucketized;
        split.question.feature_id = feature;
        split.question.threshold = of_feature.thresholds.data<int32_t>()[i];
        split.question.gain = of_feature.gains.data<float>()[i];
        const int32_t node = of_feature.nodes.data<int32_t>()[i];
        if (!best.is_better(node, split.question.gain)) continue;
        split.left = row_of(of_feature.left, i, rate);
        split.right = row_of(of_feature.right, i, rate);
        best.add(node, std::move(split));
      }
    }
    grow_layer(grown_trees(c).ensemble(), best, growth);
  }
};

class UpdateEnsembleV2Kernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int n = static_cast<int>(c.op().attr_int("num_features"));
    const Tensor& ids = c.input(1);
    if (ids.num_elements() != n) {
      invalid_argument("There must be ", n, " feature ids, one for each list; got ",
                       ids.num_elements(), ".");
    }
    LayerGrowth growth;
    growth.max_depth = *c.input(2 + 7 * n).data<int32_t>();
    const float rate = *c.input(3 + 7 * n).data<float>();
    growth.pruning = pruning_of(*c.input(4 + 7 * n).data<int32_t>());
    BestSplits best;
    for (int f = 0; f < n; ++f) {
      const auto input = [&c, n, f](int list) -> const Tensor& { return c.input(2 + list * n + f); };
      const FeatureInputs of_feature{input(1), input(2), input(3), input(4), input(5)};
      const int32_t feature = ids.data<int32_t>()[f];
      of_feature.check(feature);
      const int64_t rows = of_feature.nodes.num_elements();
      if (input(0).num_elements() != rows || input(6).num_elements() != rows) {
        invalid_argument("The splits by feature ", feature,
                         " need a dimension and a type for each node.");
      }
      for (int64_t i = 0; i < rows; ++i) {
        const float gain = of_feature.gains.data<float>()[i];
        const int32_t node = of_feature.nodes.data<int32_t>()[i];
        if (!best.is_better(node, gain)) continue;
        Split split;
        set_type(input(6).string_at(i), &split.question);
        split.question.feature_id = feature;
        split.question.dimension_id = input(0).data<int32_t>()[i];
        split.question.threshold = of_feature.thresholds.data<int32_t>()[i];
        split.question.gain = gain;
        split.left = row_of(of_feature.left, i, rate);
        split.right = row_of(of_feature.right, i, rate);
        best.add(node, std::move(split));
      }
    }
    grow_layer(grown_trees(c).ensemble(), best, growth);
  }

 private:
  static void set_type(const std::string& type, TreeNode* question) {
    question->kind = TreeNode::Kind::kBucketized;
    if (type == "INEQUALITY_DEFAULT_LEFT" || type == "inequality") return;
    question->missing_goes_right = true;
    if (type == "INEQUALITY_DEFAULT_RIGHT") return;
    question->kind = TreeNode::Kind::kCategorical;
    if (type != "EQUALITY_DEFAULT_RIGHT" && type != "equality") {
      invalid_argument("There is no split of type '", type, "'.");
    }
  }
};

class CenterBiasKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor &g = c.input(1), &h = c.input(2);
    const auto logits = static_cast<size_t>(g.num_elements());
    const auto given = static_cast<size_t>(h.num_elements());
    const bool is_matrix = logits > 1 && given == logits * logits;
    if (logits == 0 || (given != logits && !is_matrix)) {
      invalid_argument("mean_hessians of ", h.num_elements(), " elements do not go with ",
                       g.num_elements(), " logits.");
    }
    const Regularization by{*c.input(3).data<float>(), *c.input(4).data<float>()};
    std::vector<float> step(logits);
    leaf_worth(g.data<float>(), h.data<float>(), logits, is_matrix, by, step.data());
    *c.output(0).data<bool>() = center_bias(grown_trees(c).ensemble(), step);
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("BoostedTreesUpdateEnsemble")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .input("feature_ids: int32, vector")
    .input("node_ids: num_features * int32, vector")
    .input("gains: num_features * float, vector")
    .input("thresholds: num_features * int32, vector")
    .input("left_node_contribs: num_features * float, rank 2")
    .input("right_node_contribs: num_features * float, rank 2")
    .input("max_depth: int32, scalar")
    .input("learning_rate: float, scalar")
    .attr("pruning_mode: int >= 0")
    .attr("num_features: int >= 0")
    .shape(no_outputs)
    .kernel(kernel_of<UpdateEnsembleKernel>())
    .mutates(0)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesUpdateEnsemble")
    .summary("Adds a layer of the best splits to the last tree, or to a new one.");

RUNHOOKS_REGISTER_OP("BoostedTreesUpdateEnsembleV2")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .input("feature_ids: int32, vector")
    .input("dimension_ids: num_features * int32, vector")
    .input("node_ids: num_features * int32, vector")
    .input("gains: num_features * float, vector")
    .input("thresholds: num_features * int32, vector")
    .input("left_node_contribs: num_features * float, rank 2")
    .input("right_node_contribs: num_features * float, rank 2")
    .input("split_types: num_features * string, vector")
    .input("max_depth: int32, scalar")
    .input("learning_rate: float, scalar")
    .input("pruning_mode: int32, scalar")
    .attr("num_features: int >= 0")
    .shape(no_outputs)
    .kernel(kernel_of<UpdateEnsembleV2Kernel>())
    .mutates(0)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesUpdateEnsembleV2")
    .summary("Adds a layer of the best splits, of leaves of several logits too.");

RUNHOOKS_REGISTER_OP("BoostedTreesCenterBias")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .input("mean_gradients: float")
    .input("mean_hessians: float")
    .input("l1: float, scalar")
    .input("l2: float, scalar")
    .output("continue_centering: bool")
    .shape(scalar_shape)
    .kernel(kernel_of<CenterBiasKernel>())
    .mutates(0)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesCenterBias")
    .summary("Moves the bias that the first tree begins with; whether it has moved far.");

}  // namespace runhooks
