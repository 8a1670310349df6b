// Arguments shared by canned model functions: optimizers and partitioners.
#pragma once

#include <memory>
#include <string>

#include "estimators/models/model_traits.h"
#include "graph/args.h"
#include "graph/variable.h"
#include "training/optimizer.h"

namespace runhooks {

// Creates the optimizer of a model part from its argument: a name (with the part's learning rate),
// a specification, or a function that returns either, called while the graph is built. Without the
// argument, creates the part's default optimizer.
std::shared_ptr<Optimizer> optimizer_of(const Args& args,
                                        const ModelPart& part,
                                        size_t num_columns);

// tf.min_max_variable_partitioner for one parameter server, which never partitions.
Partitioner size_partitioner();
// Returns the partitioner in the argument `name`, an R function of shape and type. If the argument
// is missing, returns size_partitioner().
Partitioner partitioner_argument(const Args& args, const std::string& name);

}  // namespace runhooks
