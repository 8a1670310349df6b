#include "training/saved_step.h"

#include <vector>

#include "base/log.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/checkpoint/tensor_bundle.h"

namespace runhooks {

std::string newest_checkpoint(const std::string& model_dir,
                              const std::string& state_name,
                              CheckpointLook look) {
  std::vector<std::string> warnings;
  const std::string path = latest_checkpoint(model_dir, &warnings, state_name, look);
  for (const std::string& warning : warnings) warn("checkpoint", warning);
  return path;
}

int64_t step_in(const std::string& checkpoint, int64_t otherwise) {
  const BundleReader reader(checkpoint);
  if (!reader.contains("global_step")) return otherwise;
  return static_cast<int64_t>(reader.read("global_step").number_at(0));
}

int64_t saved_global_step(const std::string& model_dir, int64_t otherwise) {
  std::string path = newest_checkpoint(model_dir);
  if (path.empty()) return otherwise;
  try {
    return step_in(path, otherwise);
  } catch (const Error& error) {
    if (error.code() != Code::kDataLoss) throw;
    path = newest_checkpoint(model_dir, kCheckpointStateName, CheckpointLook::kContent);
    return step_in(path, otherwise);
  }
}

}  // namespace runhooks
