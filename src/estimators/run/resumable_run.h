// Saves the positions of the input and of random generators, so that a run resumes exactly.
#pragma once

#include <vector>

#include "data/resume_mismatch.h"
#include "graph/graph.h"

namespace runhooks {

// Adds the positions of the graph's random generators (dropout and the like) to its checkpoints, so
// that a resumed run draws the same numbers. `step` lists the ops of a training step; generators
// used only by initializers are not saved. Without generators, checkpoints contain the same entries
// as in TensorFlow. `replicas` is the number of processes; each saves its own positions.
void save_random_positions(Graph& graph,
                           const std::vector<const Operation*>& step,
                           int replicas = 1);

// Adds the positions of all iterators to checkpoints. Throws if the graph has no iterator, because
// a resumed run would then repeat data.
void save_input_positions(Graph& graph, ResumeMismatch on_other_data, int replicas = 1);

}  // namespace runhooks
