// Conversion of hooks, estimators and model functions from R, and interrupt polls.
#pragma once

#include <string>
#include <vector>

#include "estimators/run/estimator.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

// --- r/loop/hook.cpp

// Arguments that only bindings can read (savers, scaffolds, listeners) are set separately.
HookPtr hook_from_r(SEXP hook, const std::string& label);
// Checkpoint savers without a scaffold get this one.
HookList hooks_from_r(SEXP hooks, const std::shared_ptr<Scaffold>& scaffold = nullptr);
std::vector<ListenerPtr> listeners_from_r(SEXP listeners);

// --- r/loop/estimator.cpp

Estimator estimator_from_r(SEXP spec, SEXP config);
// The model's cache, or NULL if it caches nothing between calls.
std::shared_ptr<ModelGraphCache> graph_cache_of(SEXP model);
// list(features, labels), or list(given = <anything>) for a custom model function.
ModelInput model_input_from_r(SEXP result);
HookPtr in_memory_evaluator_from_r(SEXP hook);

// --- r/loop/model_fn.cpp

// The R function takes ModelInput::given and the mode.
ModelFn custom_model_from_r(const RFunctionPtr& function);

// --- r/loop/interrupt.cpp

void setup_interrupts();
void setup_sleep();

}  // namespace r
}  // namespace runhooks
