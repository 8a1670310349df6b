#include "hooks/trigger.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

const HandleKind kTimer("runhooks_timer");

Trigger& trigger_of_pointer(SEXP pointer) { return *from_handle<Trigger>(pointer, kTimer); }

}  // namespace

// Makes a timer for seconds or steps. It never triggers if both are NULL.
// [[Rcpp::export(rng = false)]]
SEXP cpp_timer_new(SEXP every_secs, SEXP every_steps) {
  return guarded_entry([&]() -> SEXP {
    Trigger trigger;
    if (every_secs != R_NilValue)
      trigger = Trigger::every_secs(number_from_r(every_secs, "`every_secs`"));
    if (every_steps != R_NilValue) {
      trigger = Trigger::every_steps(whole_from_r(every_steps, "`every_steps`"));
    }
    return make_handle(std::make_shared<Trigger>(trigger), kTimer);
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_timer_reset(SEXP pointer) {
  guarded_entry([&] { trigger_of_pointer(pointer).reset(); });
}

// [[Rcpp::export(rng = false)]]
bool cpp_timer_should_trigger(SEXP pointer, double step) {
  return guarded_entry(
      [&] { return trigger_of_pointer(pointer).should_trigger(whole_from_r(step, "`step`")); });
}

// Returns the seconds and steps since the previous update; at the first update, NULLs.
// [[Rcpp::export(rng = false)]]
SEXP cpp_timer_update(SEXP pointer, double step) {
  return guarded_entry([&]() -> SEXP {
    const Trigger::Elapsed elapsed =
        trigger_of_pointer(pointer).update(whole_from_r(step, "`step`"));
    if (!elapsed.is_known) return Rcpp::List::create(R_NilValue, R_NilValue);
    return Rcpp::List::create(elapsed.secs, static_cast<double>(elapsed.steps));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_timer_last_step(SEXP pointer) {
  return guarded_entry([&]() -> SEXP {
    const Trigger& trigger = trigger_of_pointer(pointer);
    if (!trigger.has_triggered()) return R_NilValue;
    return Rf_ScalarReal(static_cast<double>(trigger.last_step()));
  });
}
