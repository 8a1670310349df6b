// Builds the training graph of one process of a distributed training.
#pragma once

#include <memory>

#include "estimators/run/estimator.h"
#include "nn/replicas.h"

namespace runhooks {

// Wraps `input_fn` so that its graph belongs to a distributed training while `scope` lives. The
// input uses a seed that all processes share, because each process reads some elements of the same
// shuffled dataset. The model uses a different seed in each process.
InputFn input_of_replicas(const InputFn& input_fn,
                          const RunConfig& config,
                          std::unique_ptr<ReplicaScope>* scope);
InputFn with_shared_seed(const InputFn& input_fn, const RunConfig& config);
// Returns the seed of this process, for random ops of the model such as dropout. The chief uses the
// shared seed.
int64_t seed_of_process(const ReplicaScope& replicas);
// Adds missing collective ops to the result of a model function. Throws if the model cannot be
// trained by several processes.
void check_collectives(ReplicaScope& replicas, EstimatorSpec& spec);

}  // namespace runhooks
