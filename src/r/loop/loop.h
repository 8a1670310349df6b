// Conversion of hooks, estimators and model functions from R, and interrupt polls.
#pragma once

#include <string>
#include <vector>

#include "estimators/run/estimator.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

// --- r/loop/hook.cpp

// Converts a hook; throws for other objects. `label` is its name in messages and checkpoints.
HookPtr hook_from_r(SEXP hook, const std::string& label);
// Converts hooks. Checkpoint saver hooks that have no scaffold get `scaffold`.
HookList hooks_from_r(SEXP hooks, const std::shared_ptr<Scaffold>& scaffold = nullptr);
std::vector<ListenerPtr> listeners_from_r(SEXP listeners);

// --- r/loop/estimator.cpp

Estimator estimator_from_r(SEXP spec, SEXP config);
// Returns the graph cache of a model, or NULL if the model caches nothing between calls.
std::shared_ptr<ModelGraphCache> graph_cache_of(SEXP model);
// `result` is list(features, labels), or list(given = <any R object>) for a custom model function.
ModelInput model_input_from_r(SEXP result);
HookPtr in_memory_evaluator_from_r(SEXP hook);

// --- r/loop/model_fn.cpp

// Makes a model function that calls an R function with ModelInput::r_object and the mode.
ModelFn custom_model_from_r(const RFunctionPtr& function);

// --- r/loop/interrupt.cpp

void setup_interrupts();
void setup_sleep();

}  // namespace r
}  // namespace runhooks
