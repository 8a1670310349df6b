// Functions that find the newest checkpoint of a directory and its global step.
#pragma once

#include <cstdint>
#include <string>

#include "io/checkpoint/checkpoint_state.h"

namespace runhooks {

// The newest checkpoint of a directory, or "". Logs problems of the state file and skips damaged
// checkpoints. Use CheckpointLook::kContent if all tensors will be restored.
std::string newest_checkpoint(const std::string& model_dir,
                              const std::string& state_name = kCheckpointStateName,
                              CheckpointLook look = CheckpointLook::kFiles);
// The global step in a checkpoint, or `otherwise`.
int64_t step_in(const std::string& checkpoint, int64_t otherwise = 0);
// The global step of the newest checkpoint, or `otherwise`.
int64_t saved_global_step(const std::string& model_dir, int64_t otherwise = 0);

}  // namespace runhooks
