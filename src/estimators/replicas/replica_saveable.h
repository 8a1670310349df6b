// Saves state that differs between processes, such as input positions, in one shared checkpoint.
#pragma once

#include "graph/saveable.h"

namespace runhooks {

// Wraps the input position or random number state of a process. Collective saves
// (CollectiveSaveScope, cluster/step_barrier.h) store the state of every process. With
// `replicas` = 1, the state is stored as it is. If the number of processes has changed since the
// save, the state is not restored and a message is logged.
SaveablePtr input_of_replica(SaveablePtr position, int replicas);
SaveablePtr random_numbers_of_replica(SaveablePtr positions, int replicas);

}  // namespace runhooks
