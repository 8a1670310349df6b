// What each column adds to a prediction: the steps of the prediction along the ways of an example
// through the trees, by the column that was asked (TensorFlow's directional feature contributions).
#include <algorithm>
#include <cmath>

#include "graph/op_registry.h"
#include "trees/ensemble_resource.h"

namespace runhooks {

namespace {

double by_link(const std::string& link, double logit) {
  if (link == "sigmoid") return 1 / (1 + std::exp(-logit));
  return link == "exp" ? std::exp(logit) : logit;
}

class ContributionsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const auto& columns = c.op().attr<std::vector<int64_t>>("columns");
    const auto& link = c.op().attr<std::string>("link");
    const int64_t rows = c.input(1).num_elements(), width = c.op().attr_int("num_columns") + 1;
    check(c, columns, rows, width);
    const TreeEnsemble& ensemble = c.input_resource<EnsembleResource>(0).ensemble();
    std::vector<double> sums(static_cast<size_t>(width));
    for (int64_t row = 0; row < rows; ++row) {
      std::fill(sums.begin(), sums.end(), 0.0);
      explain(c, ensemble, columns, link, row, sums);
      float* out = c.output(0).data<float>() + row * width;
      for (size_t k = 0; k < sums.size(); ++k) out[k] = static_cast<float>(sums[k]);
    }
  }

 private:
  static void check(const KernelContext& c,
                    const std::vector<int64_t>& columns,
                    int64_t rows,
                    int64_t width) {
    const auto features = static_cast<int32_t>(c.num_inputs() - 1);
    c.input_resource<EnsembleResource>(0).check_fits(features, 1);
    if (columns.size() != static_cast<size_t>(features)) {
      invalid_argument("There must be a column for each of ", features, " features.");
    }
    for (const int64_t column : columns) {
      if (column < 0 || column + 1 >= width) invalid_argument("There is no column ", column, ".");
    }
    for (int i = 1; i < c.num_inputs(); ++i) {
      if (c.input(i).num_elements() == rows) continue;
      invalid_argument("Feature ", i - 1, " has ", c.input(i).num_elements(),
                       " buckets for a batch of ", rows, ".");
    }
  }

  static double said(const Tree& tree, const TreeNode& node) {
    return tree.weight * leaf_value(node.is_leaf() ? node.leaf : node.original_leaf, 0);
  }

  static void explain(const KernelContext& c,
                      const TreeEnsemble& ensemble,
                      const std::vector<int64_t>& columns,
                      const std::string& link,
                      int64_t row,
                      std::vector<double>& sums) {
    double before = 0;
    double last = by_link(link, ensemble.trees.empty()
                                    ? 0
                                    : said(ensemble.trees[0], ensemble.trees[0].nodes[0]));
    sums[0] = last;
    for (const Tree& tree : ensemble.trees) {
      const TreeNode* node = &tree.nodes[0];
      while (!node->is_leaf()) {
        const int32_t feature = node->feature_id;
        const int32_t bucket = c.input(feature + 1).data<int32_t>()[row];
        node = &tree.nodes[static_cast<size_t>(node->child(bucket))];
        const double now = by_link(link, before + said(tree, *node));
        sums[static_cast<size_t>(columns[static_cast<size_t>(feature)]) + 1] += now - last;
        last = now;
      }
      before += said(tree, *node);
    }
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("TreeContributions")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .input("bucketized_features: num_features * int32, rank >= 1")
    .output("contributions: float")
    .attr("num_features: int >= 1")
    .attr("columns: list(int)")
    .attr("num_columns: int >= 1")
    .attr("link: {'identity', 'sigmoid', 'exp'} = 'identity'")
    .shape([](ShapeContext& c) {
      const Shape& first = c.input(1);
      const int64_t rows = first.has_rank() && first.rank() > 0 ? first.dim(0) : -1;
      c.set_output(0, Shape{rows, sum_of_dims(c.op().attr_int("num_columns"), 1)});
    })
    .kernel(kernel_of<ContributionsKernel>())
    .stateful()
    .not_differentiable()
    .summary("The bias of trees, and what each column adds to the prediction.");

}  // namespace runhooks
