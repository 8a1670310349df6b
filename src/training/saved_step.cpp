#include "training/saved_step.h"

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/checkpoint/tensor_bundle.h"

namespace runhooks {

std::string newest_checkpoint(const std::string& model_dir,
                              const std::string& state_name,
                              CheckpointCheck look) {
  std::vector<std::string> warnings;
  const std::string path = latest_checkpoint(model_dir, &warnings, state_name, look);
  for (const std::string& warning : warnings) warn("checkpoint", warning);
  return path;
}

std::string newest_weights(const std::string& model_dir, CheckpointCheck look) {
  std::vector<std::string> warnings;
  const auto state = read_checkpoint_state(model_dir, &warnings);
  for (const std::string& warning : warnings) warn("checkpoint", warning);
  if (!state) return "";
  const auto problem_of = [look](const std::string& path) {
    return checkpoint_exists(path) ? checkpoint_problem(path, look) : "its files are missing.";
  };
  const std::vector<std::string> paths = newest_first(*state);
  const std::string problem = problem_of(paths.front());
  if (problem.empty()) return paths.front();
  const auto older = std::find_if(paths.begin() + 1, paths.end(), [&](const std::string& path) {
    return problem_of(path).empty();
  });
  std::vector<std::string> hints;
  if (older != paths.end()) {
    hints = {str_cat("The checkpoint before it, ", *older,
                     ", can be read: train() resumes from it, "
                     "and `checkpoint_path` selects it elsewhere.")};
  }
  throw Error(Code::kDataLoss,
              str_cat("The newest checkpoint, ", paths.front(), ", cannot be read: ", problem),
              hints);
}

int64_t step_in(const std::string& checkpoint, int64_t default_step) {
  const BundleReader reader(checkpoint);
  if (!reader.contains("global_step")) return default_step;
  return static_cast<int64_t>(reader.read("global_step").number_at(0));
}

int64_t saved_global_step(const std::string& model_dir, int64_t default_step) {
  std::string path = newest_checkpoint(model_dir);
  if (path.empty()) return default_step;
  try {
    return step_in(path, default_step);
  } catch (const Error& error) {
    if (error.code() != Code::kDataLoss) throw;
    path = newest_checkpoint(model_dir, kCheckpointStateName, CheckpointCheck::kContent);
    return step_in(path, default_step);
  }
}

}  // namespace runhooks
