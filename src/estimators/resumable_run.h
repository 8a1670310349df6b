// What lives here: what a run needs beside its variables to go on as if it had never stopped, in the model's checkpoints.
// Who may use it: estimators.
// What it must not know: any particular model, dataset or hook, R.
#pragma once

#include "data/on_other_data.h"
#include "graph/graph.h"

namespace runhooks {

// From now on checkpoints of this graph have the positions of all its iterators and of its random
// generators. A graph without iterators is refused: nothing could keep model and data in step.
void keep_run_resumable(Graph& graph, OnOtherData on_other_data);

}  // namespace runhooks
