#include "hooks/trigger.h"

#include "base/clock.h"

namespace runhooks {

Trigger Trigger::every_steps(int64_t steps) {
  Trigger trigger;
  trigger.kind_ = Kind::kSteps;
  trigger.interval_steps_ = steps;
  return trigger;
}

Trigger Trigger::every_secs(double secs) {
  Trigger trigger;
  trigger.kind_ = Kind::kSecs;
  trigger.interval_secs_ = secs;
  return trigger;
}

bool Trigger::should_trigger(int64_t step) const {
  if (is_never()) return false;
  if (!has_triggered_) return true;
  if (step == last_step_) return false;
  return kind_ == Kind::kSecs ? now_seconds() >= last_seconds_ + interval_secs_
                              : step >= last_step_ + interval_steps_;
}

Trigger::Elapsed Trigger::update(int64_t step) {
  Elapsed elapsed;
  if (is_never()) return elapsed;
  const double now = now_seconds();
  if (has_triggered_) elapsed = {true, now - last_seconds_, step - last_step_};
  has_triggered_ = true;
  last_step_ = step;
  last_seconds_ = now;
  return elapsed;
}

}  // namespace runhooks
