// What lives here: what canned model functions share: their optimizers and their partitioner.
// Who may use it: canned model functions, the bindings.
// What it must not know: any particular model, R.
#pragma once

#include <memory>
#include <string>

#include "graph/args.h"
#include "graph/variable.h"
#include "training/optimizer.h"

namespace runhooks {

// The optimizer that argument `name` gives: a name (with the learning rate `named_rate`), a
// specification with its hyperparameters, or a function that returns one and is called now, while
// the graph is built. Missing: `missing` with the learning rate `missing_rate`.
std::shared_ptr<Optimizer> optimizer_of(const Args& args,
                                        const std::string& name,
                                        const std::string& missing,
                                        double named_rate,
                                        double missing_rate);

// Cuts what is larger than 64 MiB, as tf.min_max_variable_partitioner does for one parameter
// server: never.
Partitioner size_partitioner();
// The function that argument `name` is, of a shape and a type, or size_partitioner().
Partitioner partitioner_argument(const Args& args, const std::string& name);

}  // namespace runhooks
