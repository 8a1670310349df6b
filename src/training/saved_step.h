// Finds the newest checkpoint of a directory and its global step.
#pragma once

#include <cstdint>
#include <string>

#include "io/checkpoint/checkpoint_state.h"

namespace runhooks {

// Returns the path of the newest checkpoint that can be read, or "". Logs problems of the state
// file, which is called `state_name`, and the checkpoints that are skipped.
std::string newest_checkpoint(const std::string& model_dir,
                              const std::string& state_name = kCheckpointStateName,
                              CheckpointCheck look = CheckpointCheck::kFiles);
// Returns the path of the newest checkpoint, or "". Throws if it cannot be read: evaluation,
// prediction and export must not use older weights without notice.
std::string newest_weights(const std::string& model_dir, CheckpointCheck look);
// Returns the global step in a checkpoint; `default_step` if the checkpoint contains none.
int64_t step_in(const std::string& checkpoint, int64_t default_step = 0);
// Returns the global step of the newest checkpoint; `default_step` if there is no checkpoint.
int64_t saved_global_step(const std::string& model_dir, int64_t default_step = 0);

}  // namespace runhooks
