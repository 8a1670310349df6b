#include <algorithm>
#include <limits>

#include "graph/op_registry.h"
#include "trees/gains.h"
#include "trees/threshold_search.h"

namespace runhooks {

namespace {

void check_node_fits(int32_t node, int64_t max_splits, int64_t row) {
  if (node >= 0 && node < max_splits) return;
  invalid_argument("Row ", row + 1, " is in node ", node, "; `max_splits` allows nodes 0 to ",
                   max_splits - 1, ".");
}

[[noreturn]] void throw_bucket(int64_t feature, int32_t bucket, int64_t num_buckets, int64_t row) {
  invalid_argument("Feature ", feature, " has bucket ", bucket, " in row ", row + 1,
                   " of the batch; buckets are 0 to ", num_buckets - 1, ".");
}

// Sums gradients and hessians into an output of shape [num_features, max_splits, num_buckets, 2].
class MakeStatsSummaryKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t max_splits = c.op().attr_int("max_splits");
    const int64_t num_buckets = c.op().attr_int("num_buckets");
    const int64_t rows = c.input(0).num_elements();
    const auto* nodes = c.input(0).data<int32_t>();
    const auto *gradients = c.input(1).data<float>(), *hessians = c.input(2).data<float>();
    auto* out = c.output(0).data<float>();
    check_rows(c, rows);
    for (int64_t row = 0; row < rows; ++row) check_node_fits(nodes[row], max_splits, row);
    // Sums in double precision, as in TensorFlow: rounding decides between nearly equal gains.
    std::vector<double> sums(static_cast<size_t>(max_splits * num_buckets * 2));
    for (int i = 3; i < c.num_inputs(); ++i, out += sums.size()) {
      std::fill(sums.begin(), sums.end(), 0.0);
      const auto* buckets = c.input(i).data<int32_t>();
      for (int64_t row = 0; row < rows; ++row) {
        const int32_t bucket = buckets[row];
        if (bucket < 0 || bucket >= num_buckets) throw_bucket(i - 3, bucket, num_buckets, row);
        double* at = sums.data() + (nodes[row] * num_buckets + bucket) * 2;
        at[0] += static_cast<double>(gradients[row]);
        at[1] += static_cast<double>(hessians[row]);
      }
      std::transform(sums.begin(), sums.end(), out, [](double x) { return static_cast<float>(x); });
    }
  }

 private:
  static void check_rows(const KernelContext& c, int64_t rows) {
    for (int i = 1; i < c.num_inputs(); ++i) {
      if (c.input(i).num_elements() == rows) continue;
      invalid_argument("Input ", i, " has ", c.input(i).num_elements(), " elements, but there are ",
                       rows, " rows.");
    }
  }
};

// Sums derivatives into an output of shape [max_splits, feature_dims, num_buckets + 1, gradients +
// hessians]. The last bucket is for missing values.
class AggregateStatsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t max_splits = c.op().attr_int("max_splits");
    const int64_t num_buckets = c.op().attr_int("num_buckets");
    const Tensor &g = c.input(1), &h = c.input(2), &feature = c.input(3);
    const int64_t rows = c.input(0).num_elements(), columns = feature.shape().dim(1);
    const int64_t num_g = g.shape().dim(1), num_h = h.shape().dim(1), width = num_g + num_h;
    if (g.shape().dim(0) != rows || h.shape().dim(0) != rows || feature.shape().dim(0) != rows) {
      invalid_argument("Gradients, hessians and the feature must have ", rows,
                       " rows, one for each node id.");
    }
    const auto* nodes = c.input(0).data<int32_t>();
    // Sums in double precision, as in TensorFlow.
    std::vector<double> sums(static_cast<size_t>(c.output(0).num_elements()));
    for (int64_t row = 0; row < rows; ++row) {
      check_node_fits(nodes[row], max_splits, row);
      for (int64_t j = 0; j < columns; ++j) {
        int32_t bucket = feature.data<int32_t>()[row * columns + j];
        if (bucket == -1) bucket = static_cast<int32_t>(num_buckets);
        if (bucket < 0 || bucket > num_buckets) throw_bucket(j, bucket, num_buckets, row);
        double* at =
            sums.data() + ((nodes[row] * columns + j) * (num_buckets + 1) + bucket) * width;
        add(g.data<float>() + row * num_g, num_g, at);
        add(h.data<float>() + row * num_h, num_h, at + num_g);
      }
    }
    std::transform(sums.begin(), sums.end(), c.output(0).data<float>(),
                   [](double x) { return static_cast<float>(x); });
  }

 private:
  static void add(const float* x, int64_t n, double* sums) {
    for (int64_t k = 0; k < n; ++k) sums[k] += static_cast<double>(x[k]);
  }
};

struct NodeRange {
  NodeRange(const Tensor& range, int64_t max_splits)
      : first(range.data<int32_t>()[0]), end(range.data<int32_t>()[1]) {
    if (first < 0 || first > end || end > max_splits) {
      invalid_argument("Nodes ", first, " to ", end, " are invalid; the summary has ", max_splits,
                       " nodes.");
    }
  }
  int32_t first, end;
};

// Reads the op's inputs from `first` on: l1, l2, tree_complexity and min_node_weight.
SplitRules rules_at(const KernelContext& c, int first) {
  const auto value = [&c](int i) { return *c.input(i).data<float>(); };
  return {{value(first), value(first + 1)}, value(first + 2), value(first + 3)};
}

template <typename T>
void set_output_values(
    KernelContext& c, int i, DType dtype, const Shape& shape, const std::vector<T>& values) {
  std::copy(values.begin(), values.end(), c.allocate_output(i, dtype, shape).data<T>());
}

class BestGainsPerFeatureKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t max_splits = c.op().attr_int("max_splits");
    const auto num_features = static_cast<int>(c.op().attr_int("num_features"));
    const NodeRange range(c.input(0), max_splits);
    rules_ = rules_at(c, 1 + num_features);
    for (int f = 0; f < num_features; ++f) {
      BestSplitLists splits;
      const int64_t buckets = c.input(1 + f).shape().dim(1);
      if (c.input(1 + f).shape().dim(0) < range.end || c.input(1 + f).shape().dim(2) != 2) {
        invalid_argument(
            "stats_summary_list must have the shape [max_splits, num_buckets, 2], "
            "not ",
            c.input(1 + f).shape(), ".");
      }
      for (int32_t node = range.first; node < range.end; ++node) {
        add_best_split(node, c.input(1 + f).data<float>() + node * buckets * 2, buckets, &splits);
      }
      write(c, f, num_features, splits);
    }
  }

 private:
  struct BestSplitLists {
    std::vector<int32_t> nodes, thresholds;
    std::vector<float> gains, left, right;
  };

  void add_best_split(int32_t node,
                      const float* stats,
                      int64_t buckets,
                      BestSplitLists* splits) const {
    ThresholdSplit best;
    if (!best_threshold(stats, buckets, rules_, &best)) return;
    splits->nodes.push_back(node);
    splits->thresholds.push_back(best.threshold);
    splits->gains.push_back(best.gain);
    splits->left.push_back(best.left);
    splits->right.push_back(best.right);
  }

  static void write(KernelContext& c, int f, int num_features, const BestSplitLists& splits) {
    const auto n = static_cast<int64_t>(splits.nodes.size());
    set_output_values(c, f, DType::kInt32, Shape{n}, splits.nodes);
    set_output_values(c, num_features + f, DType::kFloat32, Shape{n}, splits.gains);
    set_output_values(c, 2 * num_features + f, DType::kInt32, Shape{n}, splits.thresholds);
    set_output_values(c, 3 * num_features + f, DType::kFloat32, Shape{n, 1}, splits.left);
    set_output_values(c, 4 * num_features + f, DType::kFloat32, Shape{n, 1}, splits.right);
  }

  SplitRules rules_;
};

// Finds the best split of one feature. Supports features with several columns, several logits, and
// a default direction of missing values.
class BestFeatureSplitKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& stats = c.input(1);
    const NodeRange range(c.input(0), stats.shape().dim(0));
    rules_ = rules_at(c, 2);
    logits_ = static_cast<size_t>(c.op().attr_int("logits_dimension"));
    width_ = static_cast<size_t>(stats.shape().dim(3));
    columns_ = stats.shape().dim(1);
    buckets_ = stats.shape().dim(2) - 1;
    is_equality_ = c.op().attr<std::string>("split_type") == "equality";
    h_is_matrix_ = logits_ > 1 && width_ == logits_ + logits_ * logits_;
    if (buckets_ < 1 || (width_ != 2 * logits_ && width_ != logits_ + logits_ * logits_)) {
      invalid_argument("`stats_summary` has shape ", stats.shape(), ", which does not fit ",
                       static_cast<int64_t>(logits_), " logits.");
    }
    splits_ = BestSplitLists();
    const int64_t size = columns_ * (buckets_ + 1) * static_cast<int64_t>(width_);
    for (int32_t node = range.first; node < range.end; ++node) {
      add_best_split(node, stats.data<float>() + node * size);
    }
    write(c);
  }

 private:
  // Doubles, because a sum to the right of a threshold is the difference of two larger sums.
  using Sums = std::vector<double>;
  struct Candidate {
    float gain = std::numeric_limits<float>::lowest();
    int32_t dimension = 0, threshold = 0;
    std::vector<float> left, right;
    bool missing_goes_right = false;
  };
  struct BestSplitLists {
    std::vector<int32_t> nodes, dimensions, thresholds;
    std::vector<float> gains, left, right;
    std::vector<std::string> types;
  };

  float gain_of(const Sums& sums, std::vector<float>* values) const {
    values->assign(logits_, 0);
    return optimal_leaf(sums.data(), sums.data() + logits_, logits_, h_is_matrix_,
                        rules_.regularization, values->data());
  }
  // Returns the norm of the hessian, which is compared with min_node_weight.
  float node_weight(const Sums& sums) const {
    if (logits_ == 1) return static_cast<float>(sums[1]);
    double squares = 0;
    for (size_t k = logits_; k < width_; ++k) squares += sums[k] * sums[k];
    return static_cast<float>(std::sqrt(squares));
  }
  static void add(Sums& sums, const float* stats) {
    for (size_t k = 0; k < sums.size(); ++k) sums[k] += static_cast<double>(stats[k]);
  }

  void update_best(const Sums& left,
                   const Sums& total,
                   const Candidate& candidate,
                   Candidate* best) const {
    Sums right = total;
    for (size_t k = 0; k < right.size(); ++k) right[k] -= left[k];
    Candidate next = candidate;
    next.gain = gain_of(left, &next.left) + gain_of(right, &next.right);
    if (is_larger_gain(next.gain, best->gain)) *best = std::move(next);
  }

  void add_best_split(int32_t node, const float* stats) {
    Sums total(width_, 0);
    std::vector<float> values;
    for (int64_t b = 0; b <= buckets_; ++b) add(total, stats + b * static_cast<int64_t>(width_));
    if (node_weight(total) < rules_.min_node_weight) return;
    Candidate best;
    for (int64_t j = 0; j < columns_; ++j) {
      const float* column_stats = stats + j * (buckets_ + 1) * static_cast<int64_t>(width_);
      const float* missing = column_stats + buckets_ * static_cast<int64_t>(width_);
      if (is_equality_) {
        try_categories(column_stats, total, static_cast<int32_t>(j), &best);
      } else {
        try_thresholds(column_stats, missing, total, static_cast<int32_t>(j), &best);
      }
    }
    if (best.gain == std::numeric_limits<float>::lowest()) return;
    splits_.nodes.push_back(node);
    splits_.gains.push_back(best.gain - gain_of(total, &values) - rules_.tree_complexity);
    splits_.dimensions.push_back(best.dimension);
    splits_.thresholds.push_back(best.threshold);
    splits_.left.insert(splits_.left.end(), best.left.begin(), best.left.end());
    splits_.right.insert(splits_.right.end(), best.right.begin(), best.right.end());
    splits_.types.push_back(is_equality_              ? "EQUALITY_DEFAULT_RIGHT"
                            : best.missing_goes_right ? "INEQUALITY_DEFAULT_RIGHT"
                                                      : "INEQUALITY_DEFAULT_LEFT");
  }

  void try_thresholds(const float* stats,
                      const float* missing,
                      const Sums& total,
                      int32_t column,
                      Candidate* best) const {
    for (const bool missing_goes_right : {false, true}) {
      Sums left(width_, 0);
      if (!missing_goes_right) add(left, missing);
      for (int64_t b = 0; b < buckets_; ++b) {
        add(left, stats + b * static_cast<int64_t>(width_));
        update_best(left, total, candidate(column, b, missing_goes_right), best);
      }
    }
  }

  void try_categories(const float* stats,
                      const Sums& total,
                      int32_t column,
                      Candidate* best) const {
    for (int64_t b = 0; b < buckets_; ++b) {
      Sums left(width_, 0);
      add(left, stats + b * static_cast<int64_t>(width_));
      update_best(left, total, candidate(column, b, true), best);
    }
  }

  static Candidate candidate(int32_t column, int64_t bucket, bool missing_goes_right) {
    Candidate split;
    split.dimension = column;
    split.threshold = static_cast<int32_t>(bucket);
    split.missing_goes_right = missing_goes_right;
    return split;
  }

  void write(KernelContext& c) const {
    const auto n = static_cast<int64_t>(splits_.nodes.size());
    const auto k = static_cast<int64_t>(logits_);
    set_output_values(c, 0, DType::kInt32, Shape{n}, splits_.nodes);
    set_output_values(c, 1, DType::kFloat32, Shape{n}, splits_.gains);
    set_output_values(c, 2, DType::kInt32, Shape{n}, splits_.dimensions);
    set_output_values(c, 3, DType::kInt32, Shape{n}, splits_.thresholds);
    set_output_values(c, 4, DType::kFloat32, Shape{n, k}, splits_.left);
    set_output_values(c, 5, DType::kFloat32, Shape{n, k}, splits_.right);
    c.alias_output(6, Tensor::strings(Shape{n}, splits_.types));
  }

  SplitRules rules_;
  size_t logits_ = 1, width_ = 2;
  int64_t columns_ = 1, buckets_ = 1;
  bool is_equality_ = false, h_is_matrix_ = false;
  BestSplitLists splits_;
};

}  // namespace

RUNHOOKS_REGISTER_OP("BoostedTreesMakeStatsSummary")
    .input("node_ids: int32, vector")
    .input("gradients: float, rank 2")
    .input("hessians: float, rank 2")
    .input("bucketized_features_list: num_features * int32, rank >= 1")
    .output("stats_summary: float")
    .attr("max_splits: int >= 1")
    .attr("num_buckets: int >= 1")
    .attr("num_features: int >= 1")
    .shape([](ShapeContext& c) {
      c.set_output(0, Shape{c.op().attr_int("num_features"), c.op().attr_int("max_splits"),
                            c.op().attr_int("num_buckets"), 2});
    })
    .kernel(kernel_of<MakeStatsSummaryKernel>())
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesMakeStatsSummary")
    .summary("The sums of gradients and hessians by feature, node and bucket.")
    .example(
        "i{0,1,0} e[3,1] e[3,1] i{0,1,2} i{1,0,0} | max_splits=2 num_buckets=3 "
        "num_features=2");

RUNHOOKS_REGISTER_OP("BoostedTreesAggregateStats")
    .input("node_ids: int32, vector")
    .input("gradients: float, rank 2")
    .input("hessians: float, rank 2")
    .input("feature: int32, rank 2")
    .output("stats_summary: float")
    .attr("max_splits: int >= 1")
    .attr("num_buckets: int >= 1")
    .shape([](ShapeContext& c) {
      const Shape g = c.with_rank(1, 2), h = c.with_rank(2, 2), feature = c.with_rank(3, 2);
      c.set_output(0, Shape{c.op().attr_int("max_splits"), feature.dim(1),
                            sum_of_dims(c.op().attr_int("num_buckets"), 1),
                            sum_of_dims(g.dim(1), h.dim(1))});
    })
    .kernel(kernel_of<AggregateStatsKernel>())
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesAggregateStats")
    .summary(
        "Sums of gradients and hessians of a feature by node, column and bucket; the last "
        "bucket has missing values.")
    .example("i{0,1,0} e[3,2] e[3,4] i[3,1]{0,-1,2} | max_splits=2 num_buckets=3");

RUNHOOKS_REGISTER_OP("BoostedTreesCalculateBestGainsPerFeature")
    .input("node_id_range: int32, vector")
    .input("stats_summary_list: num_features * float, rank 3")
    .input("l1: float, scalar")
    .input("l2: float, scalar")
    .input("tree_complexity: float, scalar")
    .input("min_node_weight: float, scalar")
    .output("node_ids_list: num_features * int32")
    .output("gains_list: num_features * float")
    .output("thresholds_list: num_features * int32")
    .output("left_node_contribs_list: num_features * float")
    .output("right_node_contribs_list: num_features * float")
    .attr("max_splits: int >= 1")
    .attr("num_features: int >= 1")
    .shape([](ShapeContext& c) {
      const int n = static_cast<int>(c.op().attr_int("num_features"));
      for (int i = 0; i < 3 * n; ++i) c.set_output(i, Shape{-1});
      for (int i = 3 * n; i < 5 * n; ++i) c.set_output(i, Shape{-1, 1});
    })
    .kernel(kernel_of<BestGainsPerFeatureKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesCalculateBestGainsPerFeature")
    .summary("The best split of each node by each feature.")
    .example("i{0,1} e[2,3,2] e[2,2,2] e e e e | max_splits=2 num_features=2");

RUNHOOKS_REGISTER_OP("BoostedTreesCalculateBestFeatureSplit")
    .input("node_id_range: int32, vector")
    .input("stats_summary: float, rank 4")
    .input("l1: float, scalar")
    .input("l2: float, scalar")
    .input("tree_complexity: float, scalar")
    .input("min_node_weight: float, scalar")
    .output("node_ids: int32")
    .output("gains: float")
    .output("feature_dimensions: int32")
    .output("thresholds: int32")
    .output("left_node_contribs: float")
    .output("right_node_contribs: float")
    .output("split_with_default_directions: string")
    .attr("logits_dimension: int >= 1")
    .attr("split_type: {'inequality', 'equality'} = 'inequality'")
    .shape([](ShapeContext& c) {
      const int64_t width = c.op().attr_int("logits_dimension");
      for (const int i : {0, 1, 2, 3, 6}) c.set_output(i, Shape{-1});
      for (const int i : {4, 5}) c.set_output(i, Shape{-1, width});
    })
    .kernel(kernel_of<BestFeatureSplitKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesCalculateBestFeatureSplit")
    .summary("The best split of each node by a feature, and the direction of missing values.")
    .example("i{0,1} e[2,1,4,2] e e e e | logits_dimension=1");

}  // namespace runhooks
