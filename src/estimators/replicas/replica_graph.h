// Builds the training graph of one process of a distributed training.
#pragma once

#include <memory>

#include "estimators/run/estimator.h"
#include "nn/replicas.h"

namespace runhooks {

// Wraps `input_fn` so that its graph belongs to a distributed training while `scope` lives. The
// input uses a shared seed, because processes take turns reading elements of one dataset. Each
// process uses a different seed for the model.
InputFn input_of_replicas(const InputFn& input_fn,
                          const RunConfig& config,
                          std::unique_ptr<ReplicaScope>* scope);
InputFn with_shared_seed(const InputFn& input_fn, const RunConfig& config);
// The seed of this process, for the order of its rows and for dropout. The chief's is the shared
// one.
int64_t seed_of_process(const ReplicaScope& replicas);
// Adds missing collectives to the result of a model function, or throws if it cannot be
// distributed.
void check_collectives(ReplicaScope& replicas, EstimatorSpec& spec);

}  // namespace runhooks
