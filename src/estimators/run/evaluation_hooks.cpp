#include "estimators/run/evaluation_hooks.h"

#include <algorithm>

#include "base/log.h"

namespace runhooks {

void StopAfterNEvalsHook::after_run(RunContext& context, const RunValues&) {
  ++runs_;
  const int64_t every = std::max<int64_t>(1, num_evals_ / 10);
  if (runs_ % every == 0 || runs_ == num_evals_) {
    log(LogLevel::kInfo, str_cat("Evaluation [", runs_, "/", num_evals_, "]"));
  }
  if (runs_ >= num_evals_) context.request_stop();
}

}  // namespace runhooks
