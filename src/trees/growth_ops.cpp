#include <algorithm>
#include <map>

#include "graph/op_registry.h"
#include "trees/ensemble_resource.h"
#include "trees/gains.h"
#include "trees/growth.h"

namespace runhooks {

namespace {

EnsembleResource& ensemble_input(KernelContext& c) { return c.input_resource<EnsembleResource>(0); }

std::vector<float> scaled_row(const Tensor& x, int64_t row, float factor) {
  const int64_t width = x.shape().dim(1);
  std::vector<float> values(static_cast<size_t>(width));
  for (int64_t k = 0; k < width; ++k) {
    values[static_cast<size_t>(k)] = factor * x.data<float>()[row * width + k];
  }
  return values;
}

// The split candidates of one feature, as inputs of an op. The op BoostedTreesUpdateEnsemble has
// neither `dimensions` nor `types`.
struct FeatureInputs {
  const Tensor &nodes, &gains, &thresholds, &left, &right;
  const Tensor* dimensions = nullptr;
  const Tensor* types = nullptr;

  void check(int64_t feature) const {
    const int64_t n = nodes.num_elements();
    const bool fits = gains.num_elements() == n && thresholds.num_elements() == n &&
                      left.shape().dim(0) == n && right.shape().dim(0) == n &&
                      left.shape().dim(1) == right.shape().dim(1);
    if (!fits) {
      invalid_argument("Splits of feature ", feature,
                       " need a gain, a threshold and two "
                       "contributions for each of ",
                       n, " nodes.");
    }
    if (types && (dimensions->num_elements() != n || types->num_elements() != n)) {
      invalid_argument("Splits of feature ", feature,
                       " need a dimension and a type for each node.");
    }
  }
  TreeNode split_node(int64_t i, int32_t feature) const {
    TreeNode node;
    node.kind = TreeNode::Kind::kBucketized;
    if (types) {
      set_type(types->string_at(i), &node);
      node.dimension_id = dimensions->data<int32_t>()[i];
    }
    node.feature_id = feature;
    node.threshold = thresholds.data<int32_t>()[i];
    node.gain = gains.data<float>()[i];
    return node;
  }

 private:
  static void set_type(const std::string& type, TreeNode* node) {
    if (type == "INEQUALITY_DEFAULT_LEFT" || type == "inequality") return;
    node->missing_goes_right = true;
    if (type == "INEQUALITY_DEFAULT_RIGHT") return;
    node->kind = TreeNode::Kind::kCategorical;
    if (type != "EQUALITY_DEFAULT_RIGHT" && type != "equality") {
      invalid_argument("'", type, "' is not a type of split.");
    }
  }
};

// Computes an update op. Its inputs are the ensemble, the feature ids, `num_lists` lists of one
// tensor per feature, the maximum depth and the learning rate.
void update_ensemble(KernelContext& c, int num_lists, Pruning pruning) {
  const int n = static_cast<int>(c.op().attr_int("num_features"));
  const Tensor& ids = c.input(1);
  if (ids.num_elements() != n) {
    invalid_argument("`feature_ids` must have ", n, " ids, one for each feature, not ",
                     ids.num_elements(), ".");
  }
  LayerGrowthOptions growth;
  growth.max_depth = *c.input(2 + num_lists * n).data<int32_t>();
  growth.pruning = pruning;
  const float learning_rate = *c.input(3 + num_lists * n).data<float>();
  BestSplits best;
  for (int f = 0; f < n; ++f) {
    const auto input = [&](int list) -> const Tensor& { return c.input(2 + list * n + f); };
    const FeatureInputs inputs =
        num_lists == 5
            ? FeatureInputs{input(0), input(1), input(2), input(3), input(4)}
            : FeatureInputs{input(1), input(2), input(3), input(4), input(5), &input(0), &input(6)};
    const int32_t feature = ids.data<int32_t>()[f];
    inputs.check(feature);
    for (int64_t i = 0; i < inputs.nodes.num_elements(); ++i) {
      const int32_t node = inputs.nodes.data<int32_t>()[i];
      if (!best.is_better(node, inputs.gains.data<float>()[i])) continue;
      best.add(node, {inputs.split_node(i, feature), scaled_row(inputs.left, i, learning_rate),
                      scaled_row(inputs.right, i, learning_rate)});
    }
  }
  grow_layer(ensemble_input(c).ensemble(), best, growth);
}

class UpdateEnsembleKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    update_ensemble(c, 5, pruning_from_number(c.op().attr_int("pruning_mode")));
  }
};

class UpdateEnsembleV2Kernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int n = static_cast<int>(c.op().attr_int("num_features"));
    update_ensemble(c, 7, pruning_from_number(*c.input(4 + 7 * n).data<int32_t>()));
  }
};

class CenterBiasKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor &g = c.input(1), &h = c.input(2);
    const auto logits = static_cast<size_t>(g.num_elements());
    const auto num_hessians = static_cast<size_t>(h.num_elements());
    const bool is_matrix = logits > 1 && num_hessians == logits * logits;
    if (logits == 0 || (num_hessians != logits && !is_matrix)) {
      invalid_argument("`mean_hessians` has ", h.num_elements(), " elements, which do not fit ",
                       g.num_elements(), " logits.");
    }
    const Regularization regularization{*c.input(3).data<float>(), *c.input(4).data<float>()};
    std::vector<float> step(logits);
    const std::vector<double> gradients(g.data<float>(), g.data<float>() + logits);
    const std::vector<double> hessians(h.data<float>(), h.data<float>() + num_hessians);
    optimal_leaf(gradients.data(), hessians.data(), logits, is_matrix, regularization, step.data());
    *c.output(0).data<bool>() = center_bias(ensemble_input(c).ensemble(), step);
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
    .summary("Adds a layer of the best splits; supports several logits and equality splits.");

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
    .summary("Adds a step to the bias in the first tree. Returns whether the step was large.");

}  // namespace runhooks
