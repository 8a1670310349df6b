#include "hooks/best_weights.h"

#include <algorithm>

#include "io/checkpoint/checkpoint_state.h"
#include "io/files/atomic_file.h"
#include "training/saver.h"

namespace runhooks {

namespace {

constexpr const char* kCheckpointName = "model.ckpt";

bool is_file_of(const std::string& name, const std::string& checkpoint) {
  return name.rfind(checkpoint + ".", 0) == 0;
}

}  // namespace

BestWeights::BestWeights(std::string model_dir)
    : model_dir_(std::move(model_dir)), folder_(join_path(model_dir_, "best")) {}

std::string BestWeights::path_of(int64_t step) const {
  return join_path(folder_, str_cat(kCheckpointName, "-", step));
}

void BestWeights::begin(const Graph& graph, const std::vector<VariablePtr>& excluded) {
  saveables_.clear();
  saved_step_ = -1;
  for (const SaveablePtr& saveable : model_saveables_in(graph)) {
    const bool is_excluded = std::any_of(
        excluded.begin(), excluded.end(),
        [&saveable](const VariablePtr& variable) { return variable->handle.op == saveable->op(); });
    if (!is_excluded) saveables_.push_back(saveable);
  }
}

void BestWeights::save(Session& session, int64_t step_now, int64_t step) {
  if (step == saved_step_) return;
  if (step == step_now) {
    create_directories(folder_);
    SaverOptions options;
    options.save_relative_paths = true;
    Saver saver(options);
    saver.build(session.graph());
    saver.save(session, join_path(folder_, kCheckpointName), step, /*with_graph=*/false);
  } else if (!checkpoint_exists(path_of(step))) {
    const std::string path = join_path(model_dir_, str_cat(kCheckpointName, "-", step));
    if (!checkpoint_exists(path)) return;
    copy_checkpoint(path, step);
  }
  saved_step_ = step;
  remove_other_checkpoints(step);
}

void BestWeights::copy_checkpoint(const std::string& path, int64_t step) {
  create_directories(folder_);
  const std::string checkpoint = base_name(path);
  for (const std::string& name : list_directory(model_dir_)) {
    if (!is_file_of(name, checkpoint)) continue;
    write_file_atomically(join_path(folder_, name), read_whole_file(join_path(model_dir_, name)));
  }
  const std::string copy = path_of(step);
  write_checkpoint_state(folder_, make_checkpoint_state(folder_, copy, {copy}, true));
}

void BestWeights::remove_other_checkpoints(int64_t step) const {
  const std::string current_name = base_name(path_of(step));
  for (const std::string& name : list_directory(folder_)) {
    if (name.rfind(str_cat(kCheckpointName, "-"), 0) != 0 || is_file_of(name, current_name))
      continue;
    remove_file(join_path(folder_, name));
  }
}

bool BestWeights::restore(Session& session, int64_t step) const {
  if (step != saved_step_) return false;
  restore_saveables(saveables_, *open_checkpoint(path_of(step)), session.resources());
  session.mark_variables_changed();
  return true;
}

}  // namespace runhooks
