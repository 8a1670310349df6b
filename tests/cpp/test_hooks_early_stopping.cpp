// Early stopping, compared with TensorFlow's tables (golden/hooks/early_stopping).
#include "graph/variable.h"
#include "hooks_test.h"
#include "io/events/event_file.h"
#include "io/events/recorded_evaluations.h"
#include "io/files/atomic_file.h"

using namespace runhooks;
using namespace hooks_test;

namespace {

void write_metrics(const std::string& folder,
                   const std::string& suffix,
                   const std::vector<std::pair<int64_t, std::pair<const char*, double>>>& rows) {
  EventFileWriter writer(folder, suffix);
  for (const auto& row : rows) {
    writer.add_scalars({{row.second.first, row.second.second}}, row.first);
  }
  writer.close();
}

std::string text_of_metrics(const EvalMetrics& metrics) {
  std::string text;
  for (const auto& step : metrics) {
    text += str_cat(step.first, ":");
    for (const auto& metric : step.second) text += str_cat(" ", metric.first, "=", metric.second);
    text += "; ";
  }
  return text;
}

}  // namespace

TEST(eval_metrics_match_tensorflow) {
  const std::string folder = fresh_folder("eval");
  write_metrics(folder, ".a",
                {{20, {"loss", 2}}, {20, {"acc", 0.5}}, {10, {"loss", 3}}, {10, {"loss", 2.75}}});
  write_metrics(folder, ".b", {{20, {"auc", 0.75}}, {30, {"loss", 1.25}}});
  CHECK_EQ(text_of_metrics(read_eval_metrics(folder)),
           "10: loss=2.75; 20: acc=0.5 auc=0.75 loss=2; 30: loss=1.25; ");
  for (const std::string& path : list_event_files(folder)) {
    if (path.find(".b") != path.size() - 2) continue;
    std::string bytes = read_whole_file(path);
    bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 0xFF);
    write_file_atomically(path, bytes);
  }
  const CapturedLog captured;
  CHECK_EQ(text_of_metrics(read_eval_metrics(folder)),
           "10: loss=2.75; 20: acc=0.5 auc=0.75 loss=2; ");
  CHECK(captured.with("Skipping rest of the file due to encountering data corruption error") != "");
  CHECK(read_eval_metrics(folder + "/nope").empty());
}

TEST(eval_metrics_are_read_incrementally) {
  const std::string folder = fresh_folder("eval-again");
  EvalMetricsReader reader(folder);
  CHECK(reader.read().empty());
  EventFileWriter writer(folder);
  for (int64_t step = 1; step <= 50; ++step) {
    writer.add_scalars({{"loss", 1.0 / static_cast<double>(step)}}, step);
    writer.flush();
    CHECK_EQ(reader.read().size(), static_cast<size_t>(step));
  }
  const uint64_t all = file_size(writer.path());
  CHECK_EQ(reader.bytes_read(), all);  // each record was read only once
  for (int i = 0; i < 10; ++i) reader.read();
  CHECK_EQ(reader.bytes_read(), all);
  CHECK_EQ(text_of_metrics(reader.read()), text_of_metrics(read_eval_metrics(folder)));
  writer.close();
  remove_file(list_event_files(folder)[0]);
  CHECK(reader.read().empty());
}

TEST(stop_if_hooks_match_tensorflow) {
  const std::string folder = fresh_folder("eval");
  const double losses[] = {5, 4, 4.5, 4.2, 3.9}, accuracies[] = {0.5, 0.7, 0.9, 0.85, 0.8};
  {
    EventFileWriter writer(folder);
    for (int i = 0; i < 5; ++i) {
      writer.add_scalars({{"loss", losses[i]}, {"accuracy", accuracies[i]}}, 10 * (i + 1));
    }
  }
  struct Row {
    const char *type, *metric;
    double value, min_steps;
    const char* reason;  // the expected reason for stopping; NULL if the hook must not stop
  };
  const Row table[] = {
      {"StopIfHigherHook", "accuracy", 0.8, 0,
       "At step 30, metric \"accuracy\" has value 0.8999999761581421 which is greater than the "
       "configured threshold (0.8) for early stopping."},
      {"StopIfHigherHook", "accuracy", 0.9, 0, nullptr},
      {"StopIfHigherHook", "accuracy", 0.4, 35,
       "At step 40, metric \"accuracy\" has value 0.8500000238418579 which is greater than the "
       "configured threshold (0.4) for early stopping."},
      {"StopIfHigherHook", "accuracy", 0.4, 60, nullptr},
      {"StopIfLowerHook", "loss", 4.1, 0,
       "At step 20, metric \"loss\" has value 4.0 which is less than the configured threshold "
       "(4.1) for early stopping."},
      {"StopIfLowerHook", "loss", 3.9, 0, nullptr},
      {"StopIfLowerHook", "loss", 4.1, 30,
       "At step 50, metric \"loss\" has value 3.9000000953674316 which is less than the configured "
       "threshold (4.1) for early stopping."},
      {"StopIfNoIncreaseHook", "accuracy", 20, 0,
       "No increase in metric \"accuracy\" for 20 steps, which is greater than or equal to max "
       "steps (20) configured for early stopping."},
      {"StopIfNoIncreaseHook", "accuracy", 21, 0, nullptr},
      {"StopIfNoIncreaseHook", "accuracy", 20, 40, nullptr},
      {"StopIfNoIncreaseHook", "accuracy", 0, 0,
       "No increase in metric \"accuracy\" for 0 steps, which is greater than or equal to max "
       "steps (0) configured for early stopping."},
      {"StopIfNoDecreaseHook", "loss", 20, 0,
       "No decrease in metric \"loss\" for 20 steps, which is greater than or equal to max steps "
       "(20) configured for early stopping."},
      {"StopIfNoDecreaseHook", "loss", 30, 0, nullptr},
      {"StopIfNoDecreaseHook", "loss", 20, 30, nullptr},
  };
  for (const Row& row : table) {
    const CapturedLog captured;
    const std::string type = row.type;
    const char* limit_name = type == "StopIfNoIncreaseHook"   ? "max_steps_without_increase"
                             : type == "StopIfNoDecreaseHook" ? "max_steps_without_decrease"
                                                              : "threshold";
    const HookPtr hook =
        make_hook(row.type, args_of({{"metric_name", Value::of(std::string(row.metric))},
                                     {"eval_dir", Value::of(folder)},
                                     {limit_name, Value::of(row.value)},
                                     {"min_steps", Value::of(row.min_steps)},
                                     {"run_every_steps", whole(2)}}));
    Counter counter(0, 1);
    CHECK_EQ(run_counter(counter, hook, 7), row.reason ? 1 : 7);
    CHECK_EQ(captured.with("stopping"),
             row.reason ? str_cat(row.reason, "\nRequesting early stopping at global step 0")
                        : std::string());
  }
}

TEST(stop_if_hooks_report_an_unknown_metric) {
  const std::string folder = fresh_folder("eval");
  const HookPtr hook =
      make_hook("StopIfHigherHook", args_of({{"metric_name", Value::of(std::string("nope"))},
                                             {"eval_dir", Value::of(folder)},
                                             {"threshold", Value::of(1.0)},
                                             {"run_every_steps", whole(2)}}));
  {
    const CapturedLog captured;
    Counter counter(0, 1);
    CHECK_EQ(run_counter(counter, hook, 3), 3);
    CHECK(captured.with("never saw the metric \"nope\"") != "");
  }
  write_metrics(folder, "", {{20, {"loss", 2}}});
  Counter counter(0, 1);
  CHECK_THROWS(run_counter(counter, hook, 3), Code::kNotFound,
               "There is no metric 'nope' in the evaluation at step 20.");
}

namespace {

// A function that records the steps at which it is called. Returns TRUE in call `stop_at_call`.
class RecordingPredicate : public Callable {
 public:
  std::vector<int64_t> calls;
  size_t stop_at_call = 3;
  int64_t* step = nullptr;
  Value call(const std::vector<Value>&) override {
    calls.push_back(*step);
    return Value::of(calls.size() == stop_at_call);
  }
};

class StepRecorder : public RunHook {
 public:
  explicit StepRecorder(int64_t* step) : step_(step) {}
  std::string name() const override { return "StepNoter"; }
  void begin(Graph& graph) override { global_.find(graph, name()); }
  void after_run(RunContext& context, const RunValues&) override {
    *step_ = global_.now(context.session());
  }

 private:
  int64_t* step_;
  GlobalStep global_;
};

// Returns the steps after which an early stopping hook with this interval calls its function.
std::string steps_of_checks(
    const char* interval, double every, int runs, size_t stop_at_call, double secs) {
  const FakeClock clock;
  auto function = std::make_shared<RecordingPredicate>();
  int64_t step = 0;
  function->step = &step;
  function->stop_at_call = stop_at_call;
  Counter counter(0, 1);
  MonitoredSession session(
      counter.graph, std::make_unique<ChiefSessionCreator>(counter.graph, counter.scaffold),
      {std::make_shared<StepRecorder>(&step),
       make_hook("EarlyStoppingHook",
                 args_of({{"should_stop_fn", Value::of(std::shared_ptr<Callable>(function))},
                          {interval, Value::of(every)}}))});
  run_block(session, [&] {
    for (int run = 0; !session.should_stop() && run < runs; ++run) {
      fake_time += secs;
      session.run(counter.run_args);
    }
  });
  std::vector<std::string> calls;
  for (int64_t call : function->calls) calls.push_back(str_cat(call));
  return str_join(calls, " ") + str_cat(" of ", step);
}

}  // namespace

TEST(early_stopping_hook_is_called_at_tensorflows_steps) {
  CHECK_EQ(steps_of_checks("run_every_steps", 1, 7, 3, 0), "1 2 3 of 3");
  CHECK_EQ(steps_of_checks("run_every_steps", 2, 7, 3, 0), "1 3 5 of 5");
  CHECK_EQ(steps_of_checks("run_every_steps", 3, 7, 3, 0), "1 4 7 of 7");
  CHECK_EQ(steps_of_checks("run_every_steps", 100, 7, 3, 0), "1 of 7");
  CHECK_EQ(steps_of_checks("run_every_secs", 1, 11, 100, 0.25), "1 5 9 of 11");
  const Value never = Value::of(std::shared_ptr<Callable>(std::make_shared<RecordingPredicate>()));
  CHECK_THROWS(make_hook("EarlyStoppingHook", args_of({{"should_stop_fn", never}})),
               Code::kInvalidArgument, "Either every_secs or every_steps should be provided.");
}
