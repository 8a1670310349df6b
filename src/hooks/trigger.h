// What lives here: Trigger, the one place where hooks decide whether it is time (tf.train.SecondOrStepTimer).
// Who may use it: hooks, the bindings.
// What it must not know: what is done when it is time.
#pragma once

#include <cstdint>

namespace runhooks {

// Every so many steps, every so many seconds, or never. The first question is always answered with
// yes, a step that has triggered is not answered with yes again.
class Trigger {
 public:
  Trigger() = default;  // never
  static Trigger every_steps(int64_t steps);
  static Trigger every_secs(double secs);

  bool is_never() const { return kind_ == Kind::kNever; }
  void reset() { has_triggered_ = false; }
  bool should_trigger(int64_t step) const;

  struct Elapsed {
    bool is_known = false;  // not at the first time
    double secs = 0;
    int64_t steps = 0;
  };
  // Notes that `step` has triggered; returns what has passed since the last one.
  Elapsed update(int64_t step);
  bool has_triggered() const { return has_triggered_; }
  int64_t last_step() const { return last_step_; }

 private:
  enum class Kind { kNever, kSteps, kSecs };
  Kind kind_ = Kind::kNever;
  int64_t every_steps_ = 0;
  double every_secs_ = 0;
  bool has_triggered_ = false;
  int64_t last_step_ = 0;
  double last_time_ = 0;
};

}  // namespace runhooks
