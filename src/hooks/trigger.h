// Trigger: decides whether a hook is due (tf.train.SecondOrStepTimer).
#pragma once

#include <cstdint>

namespace runhooks {

// Fires every N steps, every N seconds, or never. It fires at the first check, and at most once for
// a step.
class Trigger {
 public:
  Trigger() = default;  // never fires
  static Trigger every_steps(int64_t steps);
  static Trigger every_secs(double secs);

  bool is_never() const { return kind_ == Kind::kNever; }
  void reset() { has_triggered_ = false; }
  bool should_trigger(int64_t step) const;

  struct Elapsed {
    bool is_known = false;  // false for the first update()
    double secs = 0;
    int64_t steps = 0;
  };
  // Records that the hook has acted at `step`. Returns the time and steps since the last update().
  Elapsed update(int64_t step);
  bool has_triggered() const { return has_triggered_; }
  int64_t last_step() const { return last_step_; }

 private:
  enum class Kind { kNever, kSteps, kSecs };
  Kind kind_ = Kind::kNever;
  int64_t interval_steps_ = 0;
  double interval_secs_ = 0;
  bool has_triggered_ = false;
  int64_t last_step_ = 0;
  double last_seconds_ = 0;
};

}  // namespace runhooks
