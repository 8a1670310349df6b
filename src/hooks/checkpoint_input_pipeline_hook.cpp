// Saves and restores the positions of the input iterators
// (tf.data.experimental.CheckpointInputPipelineHook).
#include "base/log.h"
#include "data/dataset.h"
#include "hooks/hook_registry.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/files/atomic_file.h"
#include "training/saved_step.h"
#include "training/saver.h"
#include "training/summary_writer.h"

namespace runhooks {

namespace {

const char* const kInputCheckpointName = "input.ckpt";
const char* const kStateName = "checkpoint_input";

SaverOptions input_saver_options() {
  SaverOptions options;
  options.state_name = kStateName;
  return options;
}

int64_t step_in_path(const std::string& path) {
  const size_t dash = path.rfind('-');
  if (dash == std::string::npos || dash + 1 == path.size()) return -1;
  return path.find_first_not_of("0123456789", dash + 1) == std::string::npos
             ? std::strtoll(path.c_str() + dash + 1, nullptr, 10)
             : -1;
}

class CheckpointInputPipelineHook : public RunHook {
 public:
  explicit CheckpointInputPipelineHook(const Args& args)
      : checkpoint_dir_(args.text("checkpoint_dir")),
        save_path_(join_path(checkpoint_dir_, kInputCheckpointName)),
        resume_mismatch_(resume_mismatch_from_name(args.text("on_other_data", "stop"))),
        saver_(input_saver_options()) {
    trigger_ = required_trigger_of(args, "save_steps", "save_secs");
  }
  std::string name() const override { return "CheckpointInputPipelineHook"; }
  bool is_for_chief() const override { return true; }

  void begin(Graph& graph) override {
    trigger_.reset();
    has_restored_ = false;
    std::vector<SaveablePtr> iterators;
    for (const CollectionItem& item : graph.collection("iterators")) {
      if (const auto* handle = std::get_if<Output>(&item)) {
        iterators.push_back(make_saveable_from_iterator(*handle, resume_mismatch_));
      }
    }
    if (iterators.empty()) {
      throw Error(Code::kInvalidArgument, "No variables to save",
                  {"hook_checkpoint_input_pipeline() saves the iterators of datasets, but the "
                   "input function creates no dataset."});
    }
    saver_ = Saver(input_saver_options());
    saver_.build(std::move(iterators));
    step_.find(graph, name());
    run_args_.fetches = {step_.tensor()};
    run_args_.changed();
    writer_ = summary_writer(checkpoint_dir_, graph);
  }
  // Restores here, not in after_create_session(), because other hooks may run initializers of the
  // iterators later.
  const RunArgs* before_run(RunContext& context) override {
    if (!has_restored_) restore_or_save(context.session());
    has_restored_ = true;
    return &run_args_;
  }
  void after_run(RunContext& context, const RunValues&) override {
    const int64_t step = step_.now(context.session());
    if (!trigger_.should_trigger(step)) return;
    trigger_.update(step);
    save(context.session(), step);
  }
  void end(Session& session) override {
    const int64_t step = step_.now(session);
    const bool is_saved = trigger_.has_triggered() && step == trigger_.last_step();
    if (!is_saved) save(session, step);
    writer_.reset();
  }
  // Saves after an interrupt, as CheckpointSaverHook does, so that both checkpoints are of the same
  // step.
  void on_error(Session* session, const LoopFailure& failure) override {
    if (failure.is_interrupt && session && has_restored_) {
      const int64_t step = step_.now(*session);
      if (step != trigger_.last_step()) write(*session, step);
    }
    writer_.reset();
  }

 private:
  // Returns the input's checkpoint of the model's step if it can be read, else the newest one, or
  // "". If the process was killed after the input was saved and before the model was, the newest
  // checkpoint of the input is of a later step than the model.
  std::string checkpoint_to_restore(int64_t step) const {
    const std::string newest =
        newest_checkpoint(checkpoint_dir_, kStateName, CheckpointCheck::kContent);
    const std::string checkpoint_of_step = str_cat(save_path_, "-", step);
    const bool is_readable =
        !newest.empty() && newest != checkpoint_of_step && checkpoint_exists(checkpoint_of_step) &&
        checkpoint_problem(checkpoint_of_step, CheckpointCheck::kContent).empty();
    return is_readable ? checkpoint_of_step : newest;
  }
  void restore_or_save(Session& session) {
    const int64_t step = step_.now(session);
    const std::string checkpoint = checkpoint_to_restore(step);
    if (checkpoint.empty()) {
      save(session, step);
      trigger_.update(step);
      return;
    }
    saver_.restore(session, checkpoint);
    if (step_in_path(checkpoint) != step) {
      log(LogLevel::kWarn,
          str_cat("The input resumes at its position of step ", step_in_path(checkpoint),
                  ", but the model is at step ", step, "."));
    }
  }
  void save(Session& session, int64_t step) {
    log(LogLevel::kInfo, str_cat("Saving checkpoints for ", step, " into ", save_path_, "."));
    write(session, step);
  }
  void write(Session& session, int64_t step) {
    saver_.save(session, save_path_, step);
    writer_->add_session_log(SessionLog::kCheckpoint, save_path_, step);
  }

  std::string checkpoint_dir_, save_path_;
  ResumeMismatch resume_mismatch_;
  Saver saver_;
  Trigger trigger_;
  GlobalStep step_;
  RunArgs run_args_;
  std::shared_ptr<EventFileWriter> writer_;
  bool has_restored_ = false;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(CheckpointInputPipelineHook,
                       "",
                       {"checkpoint_dir: string", "save_secs = NULL: number",
                        "save_steps = NULL: whole number", "on_other_data = \"stop\": string"});

}  // namespace runhooks
