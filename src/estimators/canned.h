// What lives here: what canned model functions share: their optimizers and their partitioner.
// Who may use it: canned model functions, the bindings.
// What it must not know: any particular model, R.
#pragma once

#include <memory>
#include <string>

#include "estimators/model_traits.h"
#include "graph/args.h"
#include "graph/variable.h"
#include "training/optimizer.h"

namespace runhooks {

// The optimizer of a part that has so many columns, as its argument gives it: a name (with the rate
// of the part), a specification with its hyperparameters, or a function that returns one and is
// called now, while the graph is built. Missing: the one that the part names.
std::shared_ptr<Optimizer> optimizer_of(const Args& args,
                                        const ModelPart& part,
                                        size_t num_columns);

// Cuts what is larger than 64 MiB, as tf.min_max_variable_partitioner does for one parameter
// server: never.
Partitioner size_partitioner();
// The function that argument `name` is, of a shape and a type, or size_partitioner().
Partitioner partitioner_argument(const Args& args, const std::string& name);

}  // namespace runhooks
