// Functions that find the newest checkpoint of a directory and its global step.
#pragma once

#include <cstdint>
#include <string>

#include "io/checkpoint/checkpoint_state.h"

namespace runhooks {

// The newest readable checkpoint, or "". Logs problems of the state file and skipped checkpoints.
std::string newest_checkpoint(const std::string& model_dir,
                              const std::string& state_name = kCheckpointStateName,
                              CheckpointLook look = CheckpointLook::kFiles);
// The newest checkpoint, or "". One that cannot be read is an error: only a training may continue
// from an older checkpoint.
std::string newest_weights(const std::string& model_dir, CheckpointLook look);
// The global step in a checkpoint; `otherwise` if it has none.
int64_t step_in(const std::string& checkpoint, int64_t otherwise = 0);
// The global step of the newest checkpoint; `otherwise` without a checkpoint.
int64_t saved_global_step(const std::string& model_dir, int64_t otherwise = 0);

}  // namespace runhooks
