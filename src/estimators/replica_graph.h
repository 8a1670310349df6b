// What lives here: how the graph of a training is built where each of several processes trains on its part of the data.
// Who may use it: estimators.
// What it must not know: any particular model, R.
#pragma once

#include <memory>

#include "estimators/estimator.h"
#include "nn/replicas.h"

namespace runhooks {

// The graph that `input_fn` is called with is one of so many processes as long as `scope` lives. What
// is drawn for its input is the same in all of them, since elements of datasets are dealt one by one;
// what the model draws is not.
InputFn input_of_replicas(const InputFn& input_fn,
                          const RunConfig& config,
                          std::unique_ptr<ReplicaScope>* scope);
// The same for an evaluation: what is drawn is the same in all processes.
InputFn with_seed_of_all(const InputFn& input_fn, const RunConfig& config);
// What this process alone draws from: the order of its rows, dropout. The chief's is that of all.
int64_t seed_of_process(const ReplicaScope& replicas);
// What a model function has not said for all processes is said here, or refused.
void check_collectives(ReplicaScope& replicas, EstimatorSpec& spec);

}  // namespace runhooks
