// Writes timelines of runs at intervals (tf.train.ProfilerHook).
#include "base/log.h"
#include "hooks/hook_registry.h"
#include "io/files/atomic_file.h"
#include "training/summary_writer.h"

namespace runhooks {

namespace {

constexpr const char* kTimelinePrefix = "timeline-";

class ProfilerHook : public RunHook {
 public:
  explicit ProfilerHook(const Args& args)
      : output_dir_(args.text("output_dir", "")),
        show_dataflow_(args.flag("show_dataflow", true)),
        show_memory_(args.flag("show_memory", false)) {
    if (args.has("save_steps") && args.has("save_secs")) {
      invalid_argument("Can not provide both every_secs and every_steps.");
    }
    trigger_ = required_trigger_of(args, "save_steps", "save_secs");
    traced_args_.options.trace_level = RunOptions::kFullTrace;
  }
  std::string name() const override { return "ProfilerHook"; }
  bool is_for_chief() const override { return true; }

  void begin(Graph& graph) override {
    trigger_.reset();
    has_next_step_ = false;
    step_.find(graph, name());
    for (RunArgs* args : {&untraced_args_, &traced_args_}) {
      args->fetches = {step_.tensor()};
      args->changed();
    }
    const std::string folder = output_dir_.empty() ? "." : output_dir_;
    create_directories(folder);
    remove_stale_files(folder, {kTimelinePrefix});
    writer_ = summary_writer(folder, graph);
  }
  // Traces the run if it is due, but never the first run, which is slower than later runs.
  const RunArgs* before_run(RunContext&) override {
    is_traced_ = has_next_step_ && trigger_.should_trigger(next_step_);
    return is_traced_ ? &traced_args_ : &untraced_args_;
  }
  void after_run(RunContext& context, const RunValues& values) override {
    const int64_t previous_step = *values.result(0).data<int64_t>();
    if (!has_next_step_) trigger_.update(previous_step);
    has_next_step_ = true;
    next_step_ = previous_step + 2;
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
    const std::string path = join_path(output_dir_, str_cat(kTimelinePrefix, step, ".json"));
    log(LogLevel::kInfo, str_cat("Saving timeline for ", step, " into '", path, "'."));
    write_file_atomically(path, chrome_trace(stats, show_dataflow_, show_memory_));
    writer_->add_run_metadata(str_cat("step_", step), write_run_metadata(stats), 0);
  }

  std::string output_dir_;
  bool show_dataflow_, show_memory_;
  GlobalStep step_;
  Trigger trigger_;
  RunArgs untraced_args_, traced_args_;
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
