// Compares SummarySaverHook and event files with TensorFlow's traces (golden/hooks:
// builtin_hooks.json, estimator_train.json).
#include "base/clock.h"
#include "hooks/checkpoint_saver_hook.h"
#include "hooks/summary_saver_hook.h"
#include "io/files/atomic_file.h"
#include "monitored/monitored_session.h"
#include "nn/summary_ops.h"
#include "test.h"

using namespace runhooks;

namespace {

double fake_time = 0;

struct FakeClock {
  FakeClock() {
    fake_time = 1000;
    set_clock([] { return fake_time; });
  }
  ~FakeClock() { set_clock(nullptr); }
};

std::string fresh_folder() {
  static int count = 0;
  return str_cat(runhooks_test::temporary_folder(), "/summary-hook", ++count);
}

Args args_of(std::initializer_list<std::pair<const char*, Value>> items) {
  Args args("the hook");
  for (const auto& item : items) args.set(item.first, item.second);
  return args;
}

// A model that adds `increment` to the global step in each run, starting from `start`.
struct Counter {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::shared_ptr<Scaffold> scaffold = std::make_shared<Scaffold>();
  RunArgs run_args;
  explicit Counter(int64_t start = 0, int64_t increment = 1) {
    const VariablePtr step = get_or_create_global_step(*graph);
    const Output increment_tensor = graph->scalar(DType::kInt64, static_cast<double>(increment));
    run_args.fetches = {graph->op("AssignAdd", {step->handle, increment_tensor}).build()};
    scaffold->init_fn = [step, start](Session& session) {
      session.assign(*step, Tensor::scalar<int64_t>(start));
    };
  }
  Output scalar(const char* name, double value) {
    return add_scalar_summary(*graph, name, graph->scalar(DType::kFloat32, value));
  }
  void run(const HookList& hooks, int runs, double secs_per_run = 0) {
    MonitoredSession session(graph, std::make_unique<ChiefSessionCreator>(graph, scaffold), hooks);
    run_block(session, [&] {
      for (int i = 0; i < runs; ++i) {
        fake_time += secs_per_run;
        session.run(run_args);
      }
      session.close();
    });
  }
};

std::string text_of(const Event& event) {
  if (event.kind == Event::Kind::kSessionLog) {
    return str_cat(event.step,
                   event.session_log.status == SessionLog::kStart ? ":START" : ":SAVED");
  }
  if (event.kind == Event::Kind::kFileVersion) return "file_version";
  if (event.kind == Event::Kind::kGraphDef) return "graph_def";
  if (event.kind == Event::Kind::kMetaGraphDef) return "meta_graph";
  std::string text = str_cat(event.step);
  for (const SummaryValue& value : event.summary) {
    text += str_cat(":", value.tag, "=", *value.scalar());
  }
  return text;
}

// Returns the events after version and graph in the folder's only event file: "1:START 1:c=4.0
// ...".
std::string events_of(const std::string& folder) {
  const std::vector<std::string> files = list_event_files(folder);
  CHECK_EQ(files.size(), size_t{1});
  std::vector<std::string> texts;
  for (const Event& event : read_events(files[0])) texts.push_back(text_of(event));
  CHECK_EQ(texts[0] + texts[1] + texts[2], "file_versiongraph_defmeta_graph");
  texts.erase(texts.begin(), texts.begin() + 3);
  return str_join(texts, " ");
}

}  // namespace

TEST(summary_hook_saves_at_tensorflows_steps) {
  struct Row {
    int64_t save_steps;
    int runs;
    int64_t increment, start;
    const char* events;
  };
  const Row rows[] = {
      {3, 10, 1, 0, "1:START 1:c=4 4:c=4 7:c=4 10:c=4"},
      {1, 3, 1, 0, "1:START 1:c=4 2:c=4 3:c=4"},
      {2, 5, 1, 0, "1:START 1:c=4 3:c=4 5:c=4"},
      {100, 3, 1, 0, "1:START 1:c=4"},
      {3, 5, 1, 4, "5:START 5:c=4 8:c=4"},
      {4, 5, 3, 0, "3:START 3:c=4 12:c=4"},
  };
  for (const Row& row : rows) {
    Counter counter(row.start, row.increment);
    const std::string folder = fresh_folder();
    const Output op = counter.scalar("c", 4);
    const auto hook =
        make_hook("SummarySaverHook", args_of({{"save_steps", Value::of(row.save_steps)},
                                               {"output_dir", Value::of(folder)},
                                               {"summary_op", Value::of(op)}}));
    counter.run({hook}, row.runs);
    CHECK_EQ(events_of(folder), row.events);
  }
}

TEST(summary_hook_saves_by_seconds_and_several_summaries) {
  const FakeClock clock;
  Counter counter;
  const std::string folder = fresh_folder();
  const auto ops = std::make_shared<ValueList>(
      ValueList{Value::of(counter.scalar("c", 4)), Value::of(counter.scalar("d", 5))});
  const auto hook = make_hook("SummarySaverHook", args_of({{"save_secs", Value::of(1.0)},
                                                           {"output_dir", Value::of(folder)},
                                                           {"summary_op", Value::of(ops)}}));
  counter.run({hook}, 9, 0.4);
  CHECK_EQ(events_of(folder), "1:START 1:c=4 1:d=5 4:c=4 4:d=5 7:c=4 7:d=5");
}

TEST(summary_hook_without_summaries_writes_its_start) {
  Counter counter;
  const std::string folder = fresh_folder();
  const Args args =
      args_of({{"save_steps", Value::of(int64_t{1})}, {"output_dir", Value::of(folder)}});
  counter.run({std::make_shared<SummarySaverHook>(args, counter.scaffold)}, 3);
  CHECK_EQ(events_of(folder), "1:START");
}

TEST(summary_hook_shares_the_event_file_in_tensorflows_order) {
  const FakeClock clock;
  Counter counter;
  const std::string folder = fresh_folder();
  counter.scalar("c", 4);
  const Value two = Value::of(int64_t{2}), dir = Value::of(folder);
  const auto saver = std::make_shared<CheckpointSaverHook>(
      args_of({{"save_steps", two}, {"checkpoint_dir", dir}}));
  saver->set_scaffold(counter.scaffold);
  const Args args = args_of({{"save_steps", two}, {"output_dir", dir}});
  counter.run(
      {saver, make_hook("StepCounterHook", args_of({{"every_n_steps", two}, {"output_dir", dir}})),
       std::make_shared<SummarySaverHook>(args, counter.scaffold)},
      3, 0.25);
  CHECK_EQ(events_of(folder),
           "graph_def meta_graph 0:SAVED 1:START 1:c=4 2:SAVED 3:global_step/sec=4 3:c=4 3:SAVED");
  std::vector<std::string> files;
  for (const std::string& name : list_directory(folder)) {
    if (name.rfind("events", 0) != 0) files.push_back(name);
  }
  CHECK_EQ(str_join(files, " "),
           "checkpoint graph.pbtxt model.ckpt-0.data-00000-of-00001 model.ckpt-0.index "
           "model.ckpt-0.meta model.ckpt-2.data-00000-of-00001 model.ckpt-2.index "
           "model.ckpt-2.meta model.ckpt-3.data-00000-of-00001 model.ckpt-3.index "
           "model.ckpt-3.meta");
}

TEST(summary_hook_rejects_arguments_like_tensorflow) {
  const Value op = Value::of(std::string("loss:0")), one = Value::of(int64_t{1});
  CHECK_THROWS(make_hook("SummarySaverHook", args_of({{"save_steps", one}})),
               Code::kInvalidArgument, "Exactly one of scaffold or summary_op must be provided.");
  CHECK_THROWS(make_hook("SummarySaverHook", args_of({{"summary_op", op}})), Code::kInvalidArgument,
               "Either every_secs or every_steps should be provided.");
  CHECK_THROWS(make_hook("SummarySaverHook",
                         args_of({{"summary_op", op}, {"save_steps", one}, {"save_secs", one}})),
               Code::kInvalidArgument, "Only one of save_secs or save_steps can be specified");
}
