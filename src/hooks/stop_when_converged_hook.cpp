// Stops when the optimizer has converged, and warns if it has not at the end.
#include <algorithm>

#include "base/log.h"
#include "graph/endpoints.h"
#include "hooks/hook_registry.h"
#include "hooks/value_format.h"

namespace runhooks {

namespace {

class StopWhenConvergedHook : public RunHook {
 public:
  explicit StopWhenConvergedHook(const Args& args) : warns_(args.flag("warns", true)) {}
  std::string name() const override { return "StopWhenConvergedHook"; }

  void begin(Graph& graph) override {
    const EndpointTensors& converged = endpoint(graph, "has_converged");
    const EndpointTensors& norm = endpoint(graph, "gradient_norm");
    if (converged.empty() || norm.empty()) {
      throw Error(Code::kFailedPrecondition,
                  "hook_stop_when_converged() needs an optimizer that reports convergence.",
                  {"Use LBFGS, with batches that contain all rows of the data."});
    }
    run_args_.fetches = {converged[0].second, norm[0].second};
    run_args_.changed();
    num_runs_ = 0;
    has_converged_ = false;
    max_norm_ = 0;
  }
  const RunArgs* before_run(RunContext&) override { return &run_args_; }
  void after_run(RunContext& context, const RunValues& values) override {
    ++num_runs_;
    norm_ = values.result(1).number_at(0);
    max_norm_ = std::max(max_norm_, norm_);
    has_converged_ = values.result(0).number_at(0) != 0;
    if (has_converged_) context.request_stop();
  }
  void end(Session&) override {
    // Does not warn if the gradient is small. If the classes are separable, the loss has no
    // minimum, so the optimizer cannot converge.
    if (has_converged_ || norm_ <= 1e-4 * max_norm_ || !warns_) return;
    warn("not_converged",
         str_cat("The training has not converged in ", num_runs_,
                 num_runs_ == 1 ? " step" : " steps", ": the norm of the gradient is ",
                 short_number(norm_),
                 ". The weights do not minimize the loss; call train() again to continue."));
  }

 private:
  bool warns_;
  RunArgs run_args_;
  int64_t num_runs_ = 0;
  bool has_converged_ = false;
  double norm_ = 0, max_norm_ = 0;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(
    StopWhenConvergedHook,
    "hook_stop_when_converged",
    {"warns = TRUE: flag. Warn if the loop ends before the optimizer has converged?"});

}  // namespace runhooks
