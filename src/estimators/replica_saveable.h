// What lives here: where each of several processes stands, in the one checkpoint of all.
// Who may use it: estimators, the bindings.
// What it must not know: what stands there, R.
#pragma once

#include "graph/saveable.h"

namespace runhooks {

// Where the input of each process stands, or its random numbers, in every checkpoint that all save
// together (CollectiveSaveScope, cluster/step_barrier.h), and back; of one process (`replicas` 1) as it is. A
// checkpoint of another number of processes is as one that knows nothing of it, which the log says,
// with both numbers.
SaveablePtr input_of_replica(SaveablePtr position, int replicas);
SaveablePtr random_numbers_of_replica(SaveablePtr positions, int replicas);

}  // namespace runhooks
