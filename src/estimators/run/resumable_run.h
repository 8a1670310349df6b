// Saves the positions of the input and of random generators, so that a run resumes exactly.
#pragma once

#include <vector>

#include "data/resume_mismatch.h"
#include "graph/graph.h"

namespace runhooks {

// Adds the positions of the graph's random generators (dropout and the like) to its checkpoints, so
// that a resumed run draws the same numbers. `step` lists the ops of a training step; generators
// used only by initializers are not saved. Graphs without generators keep TensorFlow's checkpoint
// contents. Each process (`replicas`) has its own positions.
void keep_random_positions(Graph& graph,
                           const std::vector<const Operation*>& step,
                           int replicas = 1);

// Also adds the positions of all iterators. Throws if the graph has none, because the data could
// not be kept in step with the model.
void keep_input_positions(Graph& graph, ResumeMismatch on_other_data, int replicas = 1);

}  // namespace runhooks
