#include "trees/split_finder.h"

#include <vector>

namespace runhooks {

namespace {

// Compares the candidate splits of a node by the sums of their left sides. left_[k] has these sums
// for logit k. They are integers times a power of two, so additions are exact.
class ColumnSplitFinder {
 public:
  ColumnSplitFinder(int32_t column_index,
                    const BinnedColumn& column,
                    const BinSums& sums,
                    const SplitCosts& costs,
                    LayerSplit* best)
      : column_index_(column_index),
        column_(column),
        sums_(sums),
        costs_(costs),
        best_(best),
        logits_(sums.logits) {
    const size_t max_candidates = static_cast<size_t>(column.bins);
    left_.resize(static_cast<size_t>(logits_));
    totals_.resize(left_.size());
    for (Candidates& left : left_) {
      left.gradients.resize(max_candidates);
      left.hessians.resize(max_candidates);
    }
    for (int32_t k = 0; k < logits_; ++k) {
      GradientSums& total = totals_[static_cast<size_t>(k)];
      for (int32_t bin = 0; bin < column.total_bins(); ++bin) {
        const GradientSums in_bin = at(bin, k);
        total.gradient += in_bin.gradient;
        total.hessian += in_bin.hessian;
      }
      parent_gain_ += leaf_gain(total, costs);
      total_hessian_ += total.hessian;
    }
  }

  void find() {
    if (!(total_hessian_ > costs_.min_node_weight)) return;
    const bool tries_both_sides = column_.has_missing && has_missing_rows();
    if (column_.kind == BinnedColumn::Kind::kCategories) {
      try_categories(false);
      if (tries_both_sides) try_categories(true);
    } else {
      try_thresholds(false);
      if (tries_both_sides) try_thresholds(true);
    }
  }

 private:
  struct Candidates {
    std::vector<double> gradients, hessians;
  };

  GradientSums at(int32_t bin, int32_t k) const {
    const int64_t i = static_cast<int64_t>(bin) * logits_ + k;
    return {static_cast<double>(sums_.gradients[i]) * sums_.gradient_unit,
            static_cast<double>(sums_.hessians[i]) * sums_.hessian_unit};
  }
  bool has_missing_rows() const {
    for (int32_t k = 0; k < logits_; ++k) {
      const GradientSums missing = at(column_.bins, k);
      if (missing.gradient != 0 || missing.hessian != 0) return true;
    }
    return false;
  }

  // Tries all thresholds. As in TensorFlow a side may be empty, so the first threshold wins if no
  // split has a gain.
  void try_thresholds(bool missing_right) {
    for (int32_t k = 0; k < logits_; ++k) {
      Candidates& left = left_[static_cast<size_t>(k)];
      GradientSums sum;
      if (column_.has_missing && !missing_right) sum = at(column_.bins, k);
      for (int32_t bin = 0; bin < column_.bins; ++bin) {
        const GradientSums in_bin = at(bin, k);
        left.gradients[static_cast<size_t>(bin)] = sum.gradient += in_bin.gradient;
        left.hessians[static_cast<size_t>(bin)] = sum.hessian += in_bin.hessian;
      }
    }
    // The last threshold would send only missing values to the right, which equals a candidate that
    // sends only them to the left.
    const bool skips_last = column_.kind == BinnedColumn::Kind::kMissingEitherSide && missing_right;
    update_best(skips_last ? column_.bins - 1 : column_.bins, missing_right);
  }

  // Tries to separate each category, which goes right, from all others.
  void try_categories(bool missing_right) {
    for (int32_t k = 0; k < logits_; ++k) {
      Candidates& left = left_[static_cast<size_t>(k)];
      GradientSums not_missing = totals_[static_cast<size_t>(k)];
      if (missing_right) {
        const GradientSums missing = at(column_.bins, k);
        not_missing.gradient -= missing.gradient;
        not_missing.hessian -= missing.hessian;
      }
      for (int32_t bin = 0; bin < column_.bins; ++bin) {
        const GradientSums in_bin = at(bin, k);
        left.gradients[static_cast<size_t>(bin)] = not_missing.gradient - in_bin.gradient;
        left.hessians[static_cast<size_t>(bin)] = not_missing.hessian - in_bin.hessian;
      }
    }
    update_best(column_.features, missing_right);
  }

  void update_best(int32_t n, bool missing_right) {
    gains_.assign(static_cast<size_t>(n), 0);
    for (size_t k = 0; k < left_.size(); ++k) {
      const GainRules gain_rules = {totals_[k].gradient, totals_[k].hessian, costs_.l1, costs_.l2};
      kernels().histograms->add_gains(n, left_[k].gradients.data(), left_[k].hessians.data(),
                                      &gain_rules, gains_.data());
    }
    const bool by_category = column_.kind == BinnedColumn::Kind::kCategories;
    const bool has_sides = column_.kind == BinnedColumn::Kind::kMissingEitherSide;
    for (int32_t i = 0; i < n; ++i) {
      const double gain = gains_[static_cast<size_t>(i)] - parent_gain_ - costs_.tree_complexity;
      if (best_->column >= 0 && !(gain - best_->gain > kEqualGains)) continue;
      if (costs_.weighs_sides && has_light_side(static_cast<size_t>(i))) continue;
      best_->column = column_index_;
      best_->feature = column_.first_feature + (by_category                  ? i
                                                : has_sides && missing_right ? 1
                                                                             : 0);
      best_->threshold = by_category ? 0 : i;
      best_->missing_goes_right = missing_right && !has_sides;
      best_->gain = gain;
      set_leaves(static_cast<size_t>(i));
    }
  }

  bool has_light_side(size_t i) const {
    double left = 0;
    for (const Candidates& own : left_) left += own.hessians[i];
    const double right = total_hessian_ - left;
    return (left > 0 && left < costs_.min_node_weight) ||
           (right > 0 && right < costs_.min_node_weight);
  }

  void set_leaves(size_t i) {
    double left_hessian = 0;
    for (const Candidates& own : left_) left_hessian += own.hessians[i];
    best_->left_is_empty = left_hessian == 0;
    best_->right_is_empty = left_hessian == total_hessian_;
    best_->left.resize(left_.size());
    best_->right.resize(left_.size());
    for (size_t k = 0; k < left_.size(); ++k) {
      const GradientSums left = {left_[k].gradients[i], left_[k].hessians[i]};
      const GradientSums right = {totals_[k].gradient - left.gradient,
                                  totals_[k].hessian - left.hessian};
      best_->left[k] = static_cast<float>(leaf_contribution(left, costs_));
      best_->right[k] = static_cast<float>(leaf_contribution(right, costs_));
    }
  }

  const int32_t column_index_;
  const BinnedColumn& column_;
  const BinSums& sums_;
  const SplitCosts& costs_;
  LayerSplit* best_;
  const int32_t logits_;
  std::vector<Candidates> left_;      // one element per logit
  std::vector<GradientSums> totals_;  // one element per logit
  std::vector<double> gains_;
  double parent_gain_ = 0, total_hessian_ = 0;
};

}  // namespace

void find_split(int32_t column_index,
                const BinnedColumn& column,
                const BinSums& sums,
                const SplitCosts& costs,
                LayerSplit* best) {
  ColumnSplitFinder(column_index, column, sums, costs, best).find();
}

}  // namespace runhooks
