#include "hooks/summary_saver_hook.h"

namespace runhooks {

SummarySaverHook::SummarySaverHook(const Args& args, std::shared_ptr<Scaffold> scaffold)
    : output_dir_(args.text("output_dir", "")), scaffold_(std::move(scaffold)) {
  const Value* op = args.find("summary_op");
  // The message of the R package tfestimators, including the leading blank.
  if (args.has("save_steps") && args.has("save_secs")) {
    invalid_argument(" Only one of save_secs or save_steps can be specified");
  }
  if ((op != nullptr) == (scaffold_ != nullptr)) {
    invalid_argument("Exactly one of scaffold or summary_op must be provided.");
  }
  trigger_ = required_trigger_of(args, "save_steps", "save_secs");
  summary_ops_ = values_of(op);
}

void SummarySaverHook::begin(Graph& graph) {
  trigger_.reset();
  is_first_ = true;
  is_due_ = false;
  step_.find(graph, name());
  if (!output_dir_.empty()) writer_ = summary_writer(output_dir_, graph);
}

// Looks up the summaries here, not in begin(), because the scaffold adds "Merge/MergeSummary:0"
// later.
void SummarySaverHook::after_create_session(Session& session, Coordinator&) {
  run_args_.fetches.clear();
  for (const Value& op : summary_ops_) {
    run_args_.fetches.emplace_back(tensor_argument(session.graph(), op));
  }
  if (scaffold_ && scaffold_->summary_op) run_args_.fetches.emplace_back(scaffold_->summary_op);
  run_args_.changed();
}

const RunArgs* SummarySaverHook::before_run(RunContext& context) {
  is_due_ = is_first_ || trigger_.should_trigger(next_step_);
  if (is_due_) return &run_args_;
  // Like TensorFlow's hook, assumes that this run and the next one each add 1 to the global step.
  next_step_ = step_.now(context.session()) + 2;
  return nullptr;
}

void SummarySaverHook::after_run(RunContext& context, const RunValues& values) {
  if (!is_due_) return;
  const int64_t step = step_.now(context.session());
  if (writer_ && is_first_) writer_->add_session_log(SessionLog::kStart, "", step);
  trigger_.update(step);
  for (size_t i = 0; writer_ && i < values.size(); ++i) {
    const Tensor& summary = values.result(i);
    for (int64_t k = 0; k < summary.num_elements(); ++k) {
      writer_->add_serialized_summary(summary.string_at(k), step);
    }
  }
  is_first_ = false;
  next_step_ = step + 1;
}

RUNHOOKS_REGISTER_HOOK(
    SummarySaverHook,
    "hook_summary_saver, train.SummarySaverHook",
    {"save_steps = NULL: whole number. Save every `save_steps` global steps.",
     "save_secs = NULL: plain number. Save every `save_secs` seconds. Give exactly one of "
     "`save_steps` and `save_secs`.",
     "output_dir = NULL: path. Directory of the event file, or `NULL` to write none.",
     "summary_writer = NULL: unsupported. Not supported: use `output_dir`.",
     "scaffold = NULL: scaffold. Only for sessions created by hand: a `tf$train$Scaffold()` whose "
     "summaries are saved if `summary_op` is not given.",
     "summary_op = NULL: summaries. The summaries to save: a tensor of `tf$summary`, the name of "
     "one (`\"loss:0\"`, or `\"Merge/MergeSummary:0\"` for all), or a list of these."});

}  // namespace runhooks
