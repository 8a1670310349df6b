// What lives here: where each of several processes stands, in the one checkpoint of all.
// Who may use it: estimators, the bindings.
// What it must not know: what stands there, R.
#pragma once

#include "graph/saveable.h"

namespace runhooks {

// What `own` has in each process, in every checkpoint that all save together (SavedTogether,
// cluster/step_gate.h), and back. A checkpoint of another number of processes is as one that knows
// nothing of it, which the log says.
SaveablePtr replica_saveable(SaveablePtr own);

}  // namespace runhooks
