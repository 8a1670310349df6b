#include "trees/stop_at_trees_hook.h"

#include <vector>

#include "base/log.h"
#include "trees/ensemble_resource.h"

namespace runhooks {

namespace {

class StopAtTreesHook : public RunHook {
 public:
  StopAtTreesHook(const Output& ensemble, const TreeTargets& targets)
      : handle_(ensemble.op->name()),
        targets_(targets),
        max_layers_(2 * targets.n_trees * targets.max_depth) {}
  std::string name() const override { return "StopAtTreesHook"; }

  void after_create_session(Session& session, Coordinator& coordinator) override {
    const TreeEnsemble* trees = trees_in(session);
    if (!trees) return;
    layers_before_ = trees->num_layers_attempted;
    steps_ = failed_layers_ = consecutive_failed_layers_ = 0;
    record_state(*trees);
    if (!is_done(*trees)) return;
    log_always(LogLevel::kInfo,
               str_cat("Training is skipped: the model already has ", progress_text(*trees),
                       ". Increase `n_trees` to grow more."));
    coordinator.request_stop();
  }
  void after_run(RunContext& context, const RunValues&) override {
    ++steps_;
    const TreeEnsemble* trees = trees_in(context.session());
    if (!trees) return;
    count_failed_layers(*trees);
    if (!is_done(*trees)) return;
    if (trees->num_finalized_trees() < targets_.n_trees) report_early_stop(*trees);
    context.request_stop();
  }
  void end(Session& session) override {
    const TreeEnsemble* trees = trees_in(session);
    if (!trees || steps_ == 0 || failed_layers_ > 0) return;
    if (trees->num_layers_attempted == layers_before_) {
      log_always(LogLevel::kInfo,
                 str_cat("No layer has grown: training ended after ", steps_,
                         " steps, but a layer takes ", targets_.batches_per_layer,
                         " batches (`n_batches_per_layer`), and so do the quantiles of numeric "
                         "columns. The next training continues from the checkpoint."));
    } else if (!has_gained(*trees)) {
      warn("trees",
           "No split of the trees reduces the loss: no feature separates the labels. Are the "
           "labels constant?");
    }
  }

 private:
  void record_state(const TreeEnsemble& trees) {
    stamp_ = trees.stamp;
    layers_ = trees.num_layers_attempted;
    num_trees_ = trees.num_trees();
    bias_ = bias_of(trees);
  }
  // Returns the bias. The first steps may change it without adding a layer.
  static std::vector<float> bias_of(const TreeEnsemble& trees) {
    return trees.trees.empty() ? std::vector<float>() : trees.trees.front().nodes.front().leaf;
  }
  // Counts attempts to grow a layer that found no split; trees.num_layers_attempted omits them.
  void count_failed_layers(const TreeEnsemble& trees) {
    const bool has_changed = layers_ != trees.num_layers_attempted ||
                             num_trees_ != trees.num_trees() || bias_ != bias_of(trees);
    const bool has_failed = trees.stamp != stamp_ && !has_changed;
    if (has_failed) ++failed_layers_;
    consecutive_failed_layers_ = has_failed ? consecutive_failed_layers_ + 1 : 0;
    record_state(trees);
  }

  void report_early_stop(const TreeEnsemble& trees) const {
    if (failed_layers_ == 0) {
      warn("trees", str_cat("Training ends with ", progress_text(trees),
                            " because no split reduces the loss by more than `tree_complexity`. "
                            "A smaller value or other features may help."));
      return;
    }
    const std::string message = str_cat("Training ends with ", progress_text(trees),
                                        " because no leaf reaches `min_node_weight`. ",
                                        "A smaller value allows more splits.");
    if (targets_.stop_when_no_split) return log_always(LogLevel::kInfo, message);
    warn("trees", message);
  }

  // True if a split changes the value on both sides. An empty side keeps the value of its parent.
  static bool has_gained(const TreeEnsemble& trees) {
    for (const Tree& tree : trees.trees) {
      for (const TreeNode& node : tree.nodes) {
        if (node.is_leaf()) continue;
        const float before = leaf_value(node.original_leaf, 0);
        if (value_of(tree, node.left_id) != before && value_of(tree, node.right_id) != before)
          return true;
      }
    }
    return false;
  }
  static float value_of(const Tree& tree, int32_t id) {
    const TreeNode& node = tree.nodes[static_cast<size_t>(id)];
    return leaf_value(node.is_leaf() ? node.leaf : node.original_leaf, 0);
  }

  const TreeEnsemble* trees_in(Session& session) const {
    const auto* resource = session.resources().find<EnsembleResource>(handle_);
    return resource && resource->is_initialized() ? &resource->ensemble() : nullptr;
  }
  bool is_done(const TreeEnsemble& trees) const {
    // One failed layer is not enough: it may be the step that finds the bias to be optimal.
    if (targets_.stop_when_no_split && consecutive_failed_layers_ > 1) return true;
    return trees.num_finalized_trees() >= targets_.n_trees ||
           trees.num_layers_attempted + failed_layers_ > max_layers_;
  }
  std::string progress_text(const TreeEnsemble& trees) const {
    const int64_t done = trees.num_finalized_trees();
    return str_cat(done, " of ", targets_.n_trees, " trees");
  }

  std::string handle_;
  TreeTargets targets_;
  int64_t max_layers_, layers_before_ = 0, steps_ = 0;
  int64_t failed_layers_ = 0, consecutive_failed_layers_ = 0, stamp_ = 0, layers_ = 0,
          num_trees_ = 0;
  std::vector<float> bias_;
};

}  // namespace

HookPtr stop_at_trees_hook(const Output& ensemble, const TreeTargets& targets) {
  return std::make_shared<StopAtTreesHook>(ensemble, targets);
}

}  // namespace runhooks
