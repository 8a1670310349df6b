// Finds the newest checkpoint of a directory and its global step.
#pragma once

#include <cstdint>
#include <string>

#include "io/checkpoint/checkpoint_state.h"

namespace runhooks {

// The newest checkpoint that can be read, or "". Logs problems of the state file and checkpoints
// that are skipped. `state_name` is the name of the state file.
std::string newest_checkpoint(const std::string& model_dir,
                              const std::string& state_name = kCheckpointStateName,
                              CheckpointCheck look = CheckpointCheck::kFiles);
// The newest checkpoint, or "". Throws if it cannot be read. For evaluation, prediction and export,
// which must not use older weights without notice.
std::string newest_weights(const std::string& model_dir, CheckpointCheck look);
// The global step in a checkpoint; `default_step` if it has none.
int64_t step_in(const std::string& checkpoint, int64_t default_step = 0);
// The global step of the newest checkpoint; `default_step` without a checkpoint.
int64_t saved_global_step(const std::string& model_dir, int64_t default_step = 0);

}  // namespace runhooks
