// Feature contributions as in TensorFlow: each split on the path of an example changes the
// prediction. This change is attributed to the column of the split.
#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/op_registry.h"
#include "trees/ensemble_resource.h"

namespace runhooks {

namespace {

void apply_link(const std::string& link, std::vector<double>& logits) {
  if (link == "softmax") {
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (double& x : logits) sum += x = std::exp(x - largest);
    for (double& x : logits) x /= sum;
  } else if (link == "sigmoid") {
    for (double& x : logits) x = 1 / (1 + std::exp(-x));
  } else if (link == "exp") {
    for (double& x : logits) x = std::exp(x);
  }
}

class ContributionsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const auto& columns = c.op().attr<std::vector<int64_t>>("columns");
    const auto& link = c.op().attr<std::string>("link");
    const int64_t rows = c.input(1).num_elements(), width = c.op().attr_int("num_columns") + 1;
    const int64_t logits = c.op().attr_int("logits_dimension");
    check_inputs(c, columns, rows, width);
    const TreeEnsemble& ensemble = c.input_resource<EnsembleResource>(0).ensemble();
    std::vector<double> sums(static_cast<size_t>(width * logits));
    for (int64_t row = 0; row < rows; ++row) {
      std::fill(sums.begin(), sums.end(), 0.0);
      add_contributions(c, ensemble,
                        {columns, link, static_cast<size_t>(width), static_cast<size_t>(logits)},
                        row, sums);
      float* out = c.output(0).data<float>() + row * width * logits;
      for (size_t k = 0; k < sums.size(); ++k) out[k] = static_cast<float>(sums[k]);
    }
  }

 private:
  struct Options {
    const std::vector<int64_t>& columns;
    const std::string& link;
    size_t width, logits;
  };

  static void check_inputs(const KernelContext& c,
                           const std::vector<int64_t>& columns,
                           int64_t rows,
                           int64_t width) {
    const auto features = static_cast<int32_t>(c.num_inputs() - 1);
    c.input_resource<EnsembleResource>(0).check_fits(
        features, static_cast<int32_t>(c.op().attr_int("logits_dimension")));
    if (columns.size() != static_cast<size_t>(features)) {
      invalid_argument("`columns` must have one column for each of ", features, " features.");
    }
    for (const int64_t column : columns) {
      if (column < 0 || column + 1 >= width) invalid_argument("There is no column ", column, ".");
    }
    for (int i = 1; i < c.num_inputs(); ++i) {
      if (c.input(i).num_elements() == rows) continue;
      invalid_argument("Feature ", i - 1, " has ", c.input(i).num_elements(),
                       " buckets, but the batch has ", rows, " rows.");
    }
  }

  // Sets `sum` to the logits of the previous trees plus the value of the node.
  static void add_node_value(const std::vector<double>& previous_trees,
                             const Tree& tree,
                             const TreeNode& node,
                             std::vector<double>* sum) {
    const std::vector<float>& value = node.is_leaf() ? node.leaf : node.original_leaf;
    for (size_t k = 0; k < previous_trees.size(); ++k) {
      (*sum)[k] = previous_trees[k] + tree.weight * leaf_value(value, k);
    }
  }

  void add_contributions(const KernelContext& c,
                         const TreeEnsemble& ensemble,
                         const Options& options,
                         int64_t row,
                         std::vector<double>& sums) {
    previous_trees_.assign(options.logits, 0.0);
    at_node_ = at_parent_ = previous_trees_;
    if (!ensemble.trees.empty()) {
      add_node_value(previous_trees_, ensemble.trees[0], ensemble.trees[0].nodes[0], &at_parent_);
    }
    apply_link(options.link, at_parent_);
    for (size_t k = 0; k < options.logits; ++k) sums[k * options.width] = at_parent_[k];
    for (const Tree& tree : ensemble.trees) {
      const TreeNode* node = &tree.nodes[0];
      while (!node->is_leaf()) {
        const int32_t feature = node->feature_id;
        const int32_t bucket = c.input(feature + 1).data<int32_t>()[row];
        node = &tree.nodes[static_cast<size_t>(node->child(bucket))];
        add_node_value(previous_trees_, tree, *node, &at_node_);
        apply_link(options.link, at_node_);
        const auto column = static_cast<size_t>(options.columns[static_cast<size_t>(feature)]) + 1;
        for (size_t k = 0; k < options.logits; ++k)
          sums[k * options.width + column] += at_node_[k] - at_parent_[k];
        std::swap(at_node_, at_parent_);
      }
      add_node_value(previous_trees_, tree, *node, &previous_trees_);
    }
  }

  // The sum of the previous trees, and the results at a node and at its parent. They are members so
  // that rows reuse their memory.
  std::vector<double> previous_trees_, at_node_, at_parent_;
};

void lower_contributions(Graph&, const Operation& op, const std::vector<Output>&) {
  throw Error(Code::kUnimplemented,
              str_cat("'", op.name(),
                      "' gives the contributions of columns to predictions of "
                      "trees. TensorFlow has no such operation, so the graph cannot be exported."),
              {"TensorFlow computes them outside of its graphs, by "
               "experimental_predict_with_explanations()."});
}

}  // namespace

RUNHOOKS_REGISTER_OP("TreeContributions")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .input("bucketized_features: num_features * int32, rank >= 1")
    .output("contributions: float")
    .attr("num_features: int >= 1")
    .attr("columns: list(int)")
    .attr("num_columns: int >= 1")
    .attr("link: {'identity', 'sigmoid', 'exp', 'softmax'} = 'identity'")
    .attr("logits_dimension: int >= 1 = 1")
    .shape([](ShapeContext& c) {
      const Shape& first = c.input(1);
      const int64_t rows = first.has_rank() && first.rank() > 0 ? first.dim(0) : -1;
      const int64_t width = sum_of_dims(c.op().attr_int("num_columns"), 1);
      c.set_output(0, Shape{rows, product_of_dims(width, c.op().attr_int("logits_dimension"))});
    })
    .kernel(kernel_of<ContributionsKernel>())
    .lower(lower_contributions)
    .stateful()
    .not_differentiable()
    .summary("The bias of trees and the contribution of each column, for each logit.");

}  // namespace runhooks
