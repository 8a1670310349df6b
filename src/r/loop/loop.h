// Hooks, estimators and model functions that R describes; interrupts.
#pragma once

#include <string>
#include <vector>

#include "estimators/estimator.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

// --- r/loop/hook.cpp

// The plain arguments of a built-in hook. Savers, scaffolds and listeners are not among them.
HookPtr hook_from_r(SEXP hook, const std::string& label);
// Those that save, and have no scaffold of their own, get this one.
HookList hooks_from_r(SEXP hooks, const std::shared_ptr<Scaffold>& scaffold = nullptr);
std::vector<ListenerPtr> listeners_from_r(SEXP listeners);

// --- r/loop/estimator.cpp

// The canned or custom estimator of a specification.
Estimator estimator_from_r(SEXP spec, SEXP config);
// NULL where a model keeps nothing from call to call.
std::shared_ptr<ModelGraphCache> kept_graphs_of(SEXP model);
// What an input function returned: list(features = <named list>, labels), or list(given =
// <anything>) for a model function of the user.
ModelInput model_input_from_r(SEXP result);
HookPtr in_memory_evaluator_from_r(SEXP hook);

// --- r/loop/model_fn.cpp

// A function of what the input function returned (ModelInput::given) and of the mode.
ModelFn custom_model_from_r(const RFunctionPtr& function);

// --- r/loop/interrupt.cpp

// The core asks R whether to go on.
void setup_interrupts();
// Hooks that wait can be interrupted.
void setup_sleep();

}  // namespace r
}  // namespace runhooks
