#include "hooks/checkpoint_saver_hook.h"

#include "base/log.h"
#include "cluster/communicator.h"
#include "cluster/step_barrier.h"
#include "graph/collection_item.h"
#include "io/files/atomic_file.h"
#include "training/graph_export.h"

namespace runhooks {

CheckpointSaverHook::CheckpointSaverHook(const Args& args)
    : checkpoint_dir_(args.text("checkpoint_dir")),
      checkpoint_basename_(args.text("checkpoint_basename", "model.ckpt")),
      save_path_(checkpoint_dir_ + "/" + checkpoint_basename_),
      saves_graph_(args.flag("save_graph_def", true)),
      triggers_by_time_(args.has("save_secs")) {
  if (args.has("save_secs") && args.has("save_steps")) {
    // The message of the R package tfestimators, including the leading blank.
    invalid_argument(" Only one of save_secs or save_steps can be specified");
  }
  trigger_ = required_trigger_of(args, "save_steps", "save_secs");
  if (args.has("saver") && args.has("scaffold")) {
    invalid_argument("You cannot provide both saver and scaffold.");
  }
}

void CheckpointSaverHook::begin(Graph& graph) {
  log(LogLevel::kInfo, "Create CheckpointSaverHook.");
  trigger_.reset();
  has_session_ = false;
  step_.find(graph, name());
  run_args_.fetches = {step_.tensor()};
  run_args_.changed();
  remove_stale_files(checkpoint_dir_, {"graph.pbtxt"});
  writer_ = summary_writer(checkpoint_dir_, graph);
  for (const ListenerPtr& listener : listeners_) listener->begin(graph);
}

void CheckpointSaverHook::after_create_session(Session& session, Coordinator&) {
  const int64_t step = step_.now(session);
  saver(session);  // throws if there is no saver, before a file is written
  GraphExport& exported = GraphExport::of(session.graph());
  if (saves_graph_) {
    write_file_atomically(checkpoint_dir_ + "/graph.pbtxt", exported.graph_text());
  }
  writer_->add_graph_def(exported.graph_def());
  writer_->add_meta_graph(exported.meta_graph());
  has_session_ = true;
  save(session, step);
  trigger_.update(step);
}

bool CheckpointSaverHook::is_due(int64_t global_step) const {
  const bool is_locally_due = trigger_.should_trigger(global_step);
  if (!has_peers_ || !triggers_by_time_) return is_locally_due;
  int64_t is_chief_due = is_locally_due;
  communicator().broadcast(&is_chief_due, sizeof is_chief_due, 0);
  return is_chief_due != 0;
}

const RunArgs* CheckpointSaverHook::before_run(RunContext&) { return &run_args_; }

void CheckpointSaverHook::after_run(RunContext& context, const RunValues&) {
  const int64_t step = step_.now(context.session());
  if (!is_due(step)) return;
  trigger_.update(step);
  if (save(context.session(), step)) context.request_stop();
}

void CheckpointSaverHook::end(Session& session) {
  const int64_t step = step_.now(session);
  const bool has_saved_this_step = trigger_.has_triggered() && step == trigger_.last_step() &&
                                   session.changes() == changes_at_save_;
  if (!has_saved_this_step) save(session, step);
  for (const ListenerPtr& listener : listeners_) listener->end(session, step);
  writer_.reset();
}

void CheckpointSaverHook::on_error(Session* session, const LoopFailure& failure) {
  // Saves only after an interrupt, which leaves the variables valid. After an error, invalid
  // variables may be its cause.
  if (failure.is_interrupt && session && has_session_) {
    const int64_t step = step_.now(*session);
    if (step != trigger_.last_step()) write_checkpoint(*session, step);
  }
  writer_.reset();
}

Saver& CheckpointSaverHook::saver(Session& session) const {
  if (scaffold_ && scaffold_->saver) {
    if (!scaffold_->saver->is_built()) scaffold_->saver->build(session.graph());
    return *scaffold_->saver;
  }
  const std::vector<CollectionItem> savers = session.graph().collection(collection_keys::kSavers);
  if (savers.empty()) {
    fail(Code::kFailedPrecondition,
         "No items in collection savers. Please add a saver to the collection or provide a saver "
         "or scaffold.");
  }
  if (savers.size() > 1) {
    fail(Code::kFailedPrecondition,
         "More than one item in collection savers. Please indicate which one to use by passing it "
         "to the "
         "constructor.");
  }
  return *static_cast<Saver*>(
      collection_item<std::shared_ptr<void>>(savers.front(), collection_keys::kSavers).get());
}

void CheckpointSaverHook::write_checkpoint(Session& session, int64_t global_step) {
  const CollectiveSaveScope scope(has_peers_);
  saver(session).save(session, save_path_, global_step, saves_graph_);
  changes_at_save_ = session.changes();
  writer_->add_session_log(SessionLog::kCheckpoint, save_path_, global_step);
}

bool CheckpointSaverHook::save(Session& session, int64_t global_step) {
  log(LogLevel::kInfo,
      str_cat("Calling checkpoint listeners before saving checkpoint ", global_step, "..."));
  for (const ListenerPtr& listener : listeners_) listener->before_save(session, global_step);
  log(LogLevel::kInfo, str_cat("Saving checkpoints for ", global_step, " into ", save_path_, "."));
  write_checkpoint(session, global_step);
  log(LogLevel::kInfo,
      str_cat("Calling checkpoint listeners after saving checkpoint ", global_step, "..."));
  bool stops = false;
  for (const ListenerPtr& listener : listeners_) {
    if (!listener->after_save(session, global_step)) continue;
    log(LogLevel::kInfo,
        str_cat("A CheckpointSaverListener requested that training be stopped. listener: ",
                listener->name()));
    stops = true;
  }
  return stops;
}

RUNHOOKS_REGISTER_HOOK(
    CheckpointSaverHook,
    "hook_checkpoint_saver, train.CheckpointSaverHook",
    {"checkpoint_dir: path. The directory of the checkpoints. It is created if necessary.",
     "save_secs = NULL: plain number. Save every `save_secs` seconds.",
     "save_steps = NULL: whole number. Save every `save_steps` global steps. Give exactly one of "
     "`save_secs` and `save_steps`.",
     "saver = NULL: saver. Only for sessions created by hand: a `tf$train$Saver()`. Default: the "
     "saver of the session.",
     "checkpoint_basename = 'model.ckpt': string. Prefix of the checkpoint file names.",
     "scaffold = NULL: scaffold. Only for sessions created by hand: a `tf$train$Scaffold()` to use "
     "instead of `saver`.",
     "listeners = NULL: listeners. A [checkpoint_saver_listener()] or a list of them.",
     "save_graph_def = TRUE: flag. Write the graph to `graph.pbtxt` and next to each checkpoint?"});

}  // namespace runhooks
