// How far the checkpoints of a folder have come.
#pragma once

#include <cstdint>
#include <string>

#include "io/checkpoint/checkpoint_state.h"

namespace runhooks {

// The newest checkpoint of a folder, "" where there is none; what is odd about its state file is
// logged, and that a damaged one is passed over. Who restores all of it looks at its content.
std::string newest_checkpoint(const std::string& model_dir,
                              const std::string& state_name = kCheckpointStateName,
                              CheckpointLook look = CheckpointLook::kFiles);
// The global step in a checkpoint; `otherwise` where it has none.
int64_t step_in(const std::string& checkpoint, int64_t otherwise = 0);
// The global step of the newest checkpoint; `otherwise` where there is none.
int64_t saved_global_step(const std::string& model_dir, int64_t otherwise = 0);

}  // namespace runhooks
