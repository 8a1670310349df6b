// Writes timelines of runs at intervals (tf.train.ProfilerHook).
#include "base/log.h"
#include "hooks/hook_registry.h"
#include "io/files/atomic_file.h"
#include "training/summary_writer.h"

namespace runhooks {

namespace {

constexpr const char* kTimeline = "timeline-";

class ProfilerHook : public RunHook {
 public:
  explicit ProfilerHook(const Args& args)
      : output_dir_(args.text("output_dir", "")),
        show_dataflow_(args.flag("show_dataflow", true)),
        show_memory_(args.flag("show_memory", false)) {
    const bool has_steps = args.has("save_steps"), has_secs = args.has("save_secs");
    if (has_steps && has_secs) invalid_argument("Can not provide both every_secs and every_steps.");
    if (!has_steps && !has_secs) {
      invalid_argument("Either every_secs or every_steps should be provided.");
    }
    trigger_ = trigger_of(args, "save_steps", "save_secs");
    traced_.options.trace_level = RunOptions::kFullTrace;
  }
  std::string name() const override { return "ProfilerHook"; }
  bool is_for_chief() const override { return true; }

  void begin(Graph& graph) override {
    trigger_.reset();
    has_next_step_ = false;
    step_.find(graph, name());
    for (RunArgs* args : {&plain_, &traced_}) {
      args->fetches = {step_.tensor()};
      args->changed();
    }
    const std::string folder = output_dir_.empty() ? "." : output_dir_;
    create_directories(folder);
    remove_stale_files(folder, {kTimeline});
    writer_ = summary_writer(folder, graph);
  }
  // Never traces the first run, because it is slower than the others.
  const RunArgs* before_run(RunContext&) override {
    is_traced_ = has_next_step_ && trigger_.should_trigger(next_step_);
    return is_traced_ ? &traced_ : &plain_;
  }
  void after_run(RunContext& context, const RunValues& values) override {
    const int64_t stale = *values.result(0).data<int64_t>();
    if (!has_next_step_) trigger_.update(stale);
    has_next_step_ = true;
    next_step_ = stale + 2;
    if (!is_traced_) return;
    const int64_t step = step_.now(context.session());
    trigger_.update(step);
    save(*values.run_metadata().step_stats, step);
    next_step_ = step + 1;
  }
  void end(Session&) override { writer_.reset(); }
  void on_error(Session*, const LoopFailure&) override { writer_.reset(); }

 private:
  void save(const StepStats& stats, int64_t step) const {
    const std::string path = join_path(output_dir_, str_cat(kTimeline, step, ".json"));
    log(LogLevel::kInfo, str_cat("Saving timeline for ", step, " into '", path, "'."));
    write_file_atomically(path, chrome_trace(stats, show_dataflow_, show_memory_));
    writer_->add_run_metadata(str_cat("step_", step), write_run_metadata(stats), 0);
  }

  std::string output_dir_;
  bool show_dataflow_, show_memory_;
  GlobalStep step_;
  Trigger trigger_;
  RunArgs plain_, traced_;
  std::shared_ptr<EventFileWriter> writer_;
  bool has_next_step_ = false;
  bool is_traced_ = false;
  int64_t next_step_ = 0;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(
    ProfilerHook,
    "hook_profiler, train.ProfilerHook",
    {"save_steps = NULL: whole number. Trace every `save_steps` steps.",
     "save_secs = NULL: plain number. Trace every `save_secs` seconds. Give exactly one of "
     "`save_steps` and `save_secs`.",
     "output_dir = '': path. The output directory. Default: the working directory.",
     "show_dataflow = TRUE: flag. Draw arrows from each operation to those that use its results?",
     "show_memory = FALSE: flag. Record the size and lifetime of each result?"});

}  // namespace runhooks
