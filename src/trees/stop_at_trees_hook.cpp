#include "trees/stop_at_trees_hook.h"

#include "base/log.h"
#include "trees/ensemble_resource.h"

namespace runhooks {

namespace {

class StopAtTreesHook : public RunHook {
 public:
  StopAtTreesHook(const Output& ensemble, int64_t n_trees, int64_t max_depth)
      : handle_(ensemble.op->name()), n_trees_(n_trees), most_layers_(2 * n_trees * max_depth) {}
  std::string name() const override { return "StopAtTreesHook"; }

  void after_create_session(Session& session, Coordinator& coordinator) override {
    const TreeEnsemble* trees = trees_in(session);
    if (!trees || !is_done(*trees)) return;
    log_always(LogLevel::kInfo,
               str_cat("No step is made: the model has ", words(*trees),
                       " already. Ask for more with a larger `n_trees`."));
    coordinator.request_stop();
  }
  void after_run(RunContext& context, const RunValues&) override {
    const TreeEnsemble* trees = trees_in(context.session());
    if (!trees || !is_done(*trees)) return;
    if (trees->num_finalized_trees() < n_trees_) {
      log_always(LogLevel::kWarn,
                 str_cat("Training ends with ", words(*trees),
                         ": no split has lowered the loss by more than it costs. "
                         "A smaller `tree_complexity` or other features would help."));
    }
    context.request_stop();
  }

 private:
  const TreeEnsemble* trees_in(Session& session) const {
    const auto* own = session.resources().find<EnsembleResource>(handle_);
    return own && own->is_initialized() ? &own->ensemble() : nullptr;
  }
  bool is_done(const TreeEnsemble& trees) const {
    return trees.num_finalized_trees() >= n_trees_ || trees.num_layers_attempted > most_layers_;
  }
  std::string words(const TreeEnsemble& trees) const {
    const int64_t done = trees.num_finalized_trees();
    return str_cat(done, " of ", n_trees_, " trees");
  }

  std::string handle_;
  int64_t n_trees_, most_layers_;
};

}  // namespace

HookPtr stop_at_trees(const Output& ensemble, int64_t n_trees, int64_t max_depth) {
  return std::make_shared<StopAtTreesHook>(ensemble, n_trees, max_depth);
}

}  // namespace runhooks
