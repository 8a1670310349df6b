// Ends an evaluation after a number of batches (tf.contrib.training.StopAfterNEvalsHook).
#include <algorithm>

#include "base/log.h"
#include "hooks/hook_registry.h"

namespace runhooks {

namespace {

class StopAfterNEvalsHook : public RunHook {
 public:
  explicit StopAfterNEvalsHook(const Args& args)
      : num_evals_(args.has("num_evals") ? args.integer("num_evals") : 0),
        logs_progress_(args.flag("log_progress", true)),
        log_interval_(num_evals_ < 20 ? 1 : num_evals_ / 10) {}
  std::string name() const override { return "StopAfterNEvalsHook"; }

  void begin(Graph&) override { num_run_ = 0; }
  void after_run(RunContext& context, const RunValues&) override {
    ++num_run_;
    if (logs_progress_ && (num_run_ % log_interval_ == 0 || num_run_ == num_evals_)) {
      log(LogLevel::kInfo,
          str_cat("Evaluation [", num_run_, num_evals_ > 0 ? str_cat("/", num_evals_) : "", "]"));
    }
    if (num_evals_ > 0 && num_run_ >= num_evals_) context.request_stop();
  }

 private:
  int64_t num_evals_;
  bool logs_progress_;
  int64_t log_interval_;
  int64_t num_run_ = 0;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(
    StopAfterNEvalsHook,
    "hook_stop_after_n_evals, contrib.training.StopAfterNEvalsHook",
    {"num_evals: count or NULL. The number of batches. If `NULL`, the hook only reports progress.",
     "log_progress = TRUE: flag. Log progress lines such as `Evaluation [5/10]` at level INFO? "
     "With 20 or more batches, only one line per tenth of them is logged."});

}  // namespace runhooks
