// What lives here: what a run needs beside its variables to go on as if it had never stopped, in the model's checkpoints.
// Who may use it: estimators.
// What it must not know: any particular model, dataset or hook, R.
#pragma once

#include <vector>

#include "data/resume_mismatch.h"
#include "graph/graph.h"

namespace runhooks {

// From now on checkpoints of this graph say where its random generators stand (dropout's and those of
// the user's own steps), so that a run that goes on draws what it would have drawn. `step` is what a
// step asks for: what initializers alone draw from is left out. A graph that draws nothing has
// TensorFlow's checkpoints. Each of several processes (`replicas`) has its own.
void keep_random_positions(Graph& graph,
                           const std::vector<const Operation*>& step,
                           int replicas = 1);

// The positions of all its iterators besides. A graph without iterators is refused: nothing could keep
// model and data in step.
void keep_input_positions(Graph& graph, ResumeMismatch on_other_data, int replicas = 1);

}  // namespace runhooks
