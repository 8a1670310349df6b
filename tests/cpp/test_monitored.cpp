// Tests the monitored loop: order of calls, end, and recovery. golden/hooks/README.md documents the
// expected behaviour.
#include "base/interrupt.h"
#include "io/checkpoint/tensor_bundle.h"
#include "monitored/monitored_session.h"
#include "test.h"

using namespace runhooks;

namespace {

using Trace = std::vector<std::string>;

// Records the calls of its methods. In each call, `on_call` (if set) gets the name of the method
// and how often it has been called.
class TraceHook : public RunHook {
 public:
  TraceHook(std::string name, Trace& trace) : name_(std::move(name)), trace_(trace) {}
  std::string name() const override { return name_; }
  void begin(Graph&) override { record("begin"); }
  void after_create_session(Session&, Coordinator& coordinator) override {
    this->coordinator = &coordinator;
    record("created");
  }
  const RunArgs* before_run(RunContext& context) override {
    context_ = &context;
    record("before");
    return args.fetches.empty() && args.feeds.empty() ? nullptr : &args;
  }
  void after_run(RunContext& context, const RunValues& values) override {
    context_ = &context;
    results.clear();
    for (size_t i = 0; i < values.size(); ++i) results.push_back(values.result(i).number_at(0));
    record("after");
  }
  void end(Session&) override { record("end"); }
  void on_error(Session*, const LoopFailure& failure) override {
    record(failure.is_interrupt ? "interrupted" : "error");
  }

  RunArgs args;
  std::vector<double> results;
  Coordinator* coordinator = nullptr;
  std::function<void(const std::string& method, int call)> on_call;
  RunContext& context() { return *context_; }

 private:
  void record(const std::string& method) {
    trace_.push_back(name_ + "." + method);
    if (on_call) on_call(method, ++calls_[method]);
  }
  std::string name_;
  Trace& trace_;
  RunContext* context_ = nullptr;
  std::map<std::string, int> calls_;
};

struct Loop {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Output x, y, sum;
  RunArgs run_args;
  Trace trace;
  std::shared_ptr<TraceHook> a = std::make_shared<TraceHook>("A", trace);
  std::shared_ptr<TraceHook> b = std::make_shared<TraceHook>("B", trace);
  MonitoredOptions options;

  Loop() {
    get_or_create_global_step(*graph);
    auto input = [this](double value, const char* name) -> Output {
      return graph->op("PlaceholderWithDefault", {graph->scalar(DType::kFloat32, value)})
          .attr("shape", Shape())
          .named(name);
    };
    x = input(10, "x");
    y = input(20, "y");
    sum = graph->op("AddV2", {x, y}).named("sum");
    run_args.fetches = {sum};
  }
  std::unique_ptr<MonitoredSession> open() {
    return std::make_unique<MonitoredSession>(
        graph, std::make_unique<ChiefSessionCreator>(graph, nullptr), HookList{a, b}, options);
  }
  // Makes up to `runs` runs and returns the value of `sum` in the last one.
  double run(int runs) {
    double last = 0;
    auto session = open();
    run_block(*session, [&] {
      for (int i = 0; i < runs && !session->should_stop(); ++i) {
        last = session->run(run_args).result(0).number_at(0);
      }
    });
    return last;
  }
  std::string text() const { return str_join(trace, " "); }
};

void fail_at(TraceHook& hook, const std::string& method, int call, Code code) {
  hook.on_call = [=](const std::string& m, int c) {
    if (m == method && c == call) throw Error(code, "on purpose");
  };
}

const char kStart[] = "A.begin B.begin A.created B.created ";
const char kRun[] = "A.before B.before A.after B.after ";

}  // namespace

TEST(loop_calls_hooks_in_list_order) {
  Loop loop;
  loop.run(2);
  CHECK_EQ(loop.text(), str_cat(kStart, kRun, kRun, "A.end B.end"));
}

TEST(loop_without_runs_still_begins_and_ends) {
  Loop loop;
  loop.run(0);
  CHECK_EQ(loop.text(), str_cat(kStart, "A.end B.end"));
}

TEST(loop_stop_in_before_run_completes_the_run) {
  Loop loop;
  bool b_saw_request = false;
  loop.a->on_call = [&](const std::string& method, int) {
    if (method == "before") loop.a->context().request_stop();
  };
  loop.b->on_call = [&](const std::string& method, int) {
    if (method == "before") b_saw_request = loop.b->context().stop_requested();
  };
  loop.run(5);
  CHECK(b_saw_request);
  CHECK_EQ(loop.text(), str_cat(kStart, kRun, "A.end B.end"));
}

TEST(loop_coordinator_stops) {
  Loop loop;
  loop.a->on_call = [&](const std::string& method, int call) {
    if (method == "after" && call == 2) loop.a->coordinator->request_stop();
  };
  loop.run(5);
  CHECK_EQ(loop.text(), str_cat(kStart, kRun, kRun, "A.end B.end"));
}

TEST(loop_end_of_data_and_stop_iteration_are_no_errors) {
  for (const Code code : {Code::kOutOfRange, Code::kStopIteration}) {
    Loop in_before, in_after;
    fail_at(*in_before.a, "before", 2, code);
    in_before.run(5);
    CHECK_EQ(in_before.text(), str_cat(kStart, kRun, "A.before A.end B.end"));
    fail_at(*in_after.b, "after", 1, code);
    in_after.run(5);
    CHECK_EQ(in_after.text(), str_cat(kStart, kRun, "A.end B.end"));
  }
}

TEST(loop_other_errors_skip_end) {
  Loop loop;
  fail_at(*loop.b, "after", 2, Code::kInvalidArgument);
  CHECK_THROWS(loop.run(5), Code::kInvalidArgument, "on purpose");
  CHECK_EQ(loop.text(), str_cat(kStart, kRun, kRun, "A.error B.error"));
  CHECK(!loop.graph->finalized());
}

TEST(loop_steering_errors_outside_of_runs_are_raised) {
  for (const char* method : {"begin", "created", "end"}) {
    Loop loop;
    fail_at(*loop.a, method, 1, Code::kOutOfRange);
    CHECK_THROWS(loop.run(1), Code::kOutOfRange, "on purpose");
  }
  // An error in end() skips the later end() calls; on_error() is called for all hooks.
  Loop loop;
  fail_at(*loop.a, "end", 1, Code::kInternal);
  CHECK_THROWS(loop.run(1), Code::kInternal, "on purpose");
  CHECK_EQ(loop.text(), str_cat(kStart, kRun, "A.end A.error B.error"));
}

TEST(loop_recovers_from_a_lost_session) {
  for (const Code code : {Code::kAborted, Code::kUnavailable}) {
    Loop loop;
    fail_at(*loop.b, "before", 2, code);
    loop.run(2);
    CHECK_EQ(loop.text(),
             str_cat(kStart, kRun, "A.before B.before A.created B.created ", kRun, "A.end B.end"));
  }
  Loop singular;
  singular.options.recovers = false;
  fail_at(*singular.b, "before", 1, Code::kAborted);
  CHECK_THROWS(singular.run(2), Code::kAborted, "on purpose");
}

TEST(loop_gives_up_after_ten_failures) {
  Loop loop;
  int failures = 0;
  loop.a->on_call = [&](const std::string& method, int) {
    if (method == "before") fail(Code::kAborted, "failure ", ++failures);
  };
  CHECK_THROWS(loop.run(1), Code::kAborted, "failure 10");
}

TEST(loop_discards_a_stop_request_of_a_lost_run) {
  Loop loop;
  loop.a->on_call = [&](const std::string& method, int call) {
    if (method != "after" || call != 1) return;
    loop.a->context().request_stop();
    fail(Code::kAborted, "lost");
  };
  loop.run(2);
  CHECK_EQ(loop.trace.back(), "B.end");
  CHECK_EQ(std::count(loop.trace.begin(), loop.trace.end(), "B.after"), 2L);
}

TEST(loop_merges_fetches_and_feeds) {
  Loop loop;
  loop.a->args.fetches = {loop.sum, loop.x};
  loop.a->args.feeds = {{loop.x, Tensor::scalar<float>(1)}};
  loop.b->args.fetches = {loop.sum};
  loop.b->args.feeds = {{loop.y, Tensor::scalar<float>(2)}};
  CHECK_EQ(loop.run(1), 3.0);
  CHECK(loop.a->results == (std::vector<double>{3, 1}));
  CHECK(loop.b->results == (std::vector<double>{3}));
}

TEST(loop_names_both_hooks_that_feed_one_tensor) {
  Loop loop;
  loop.a->args.feeds = {{loop.x, Tensor::scalar<float>(1)}};
  loop.b->args.feeds = {{loop.x, Tensor::scalar<float>(2)}};
  CHECK_THROWS(loop.run(1), Code::kFailedPrecondition,
               "Conflicting feed: 'x:0' by hooks `A` and `B`");
  Loop with_caller;
  with_caller.a->args.feeds = {{with_caller.x, Tensor::scalar<float>(1)}};
  with_caller.run_args.feeds = {{with_caller.x, Tensor::scalar<float>(2)}};
  CHECK_THROWS(with_caller.run(1), Code::kFailedPrecondition, "by hook `A` and by the caller");
}

TEST(loop_supports_changing_fetches) {
  Loop loop;
  loop.a->on_call = [&](const std::string& method, int call) {
    if (method != "before") return;
    loop.a->args.fetches =
        call % 2 ? std::vector<Fetch>{loop.x} : std::vector<Fetch>{loop.y, loop.sum};
    loop.a->args.changed();
  };
  std::vector<std::vector<double>> seen;
  loop.b->on_call = [&](const std::string& method, int) {
    if (method == "after") seen.push_back(loop.a->results);
  };
  loop.run(3);
  CHECK(seen == (std::vector<std::vector<double>>{{10}, {20, 30}, {10}}));
}

TEST(loop_lets_hooks_run_the_session) {
  Loop loop;
  double own_result = 0;
  loop.a->args.fetches = {loop.sum};
  loop.a->on_call = [&](const std::string& method, int) {
    // Fetching the same tensor with other feeds must not change the results of the current run.
    if (method == "after") {
      own_result = loop.a->context()
                       .session()
                       .run({loop.sum}, {{loop.x, Tensor::scalar<float>(0)}})[0]
                       .number_at(0);
    }
  };
  loop.b->args.fetches = {loop.sum};
  CHECK_EQ(loop.run(1), 30.0);
  CHECK_EQ(own_result, 20.0);
  CHECK(loop.b->results == (std::vector<double>{30}));
}

TEST(loop_interrupt_ends_after_the_step) {
  Loop loop;
  static const Loop* watched;
  watched = &loop;
  set_interrupt_check([] {
    const bool has_run_twice = watched->trace.size() == 12;
    if (has_run_twice) throw ForeignUnwind(/*is_interrupt=*/true);
  });
  bool interrupted = false;
  try {
    loop.run(5);
  } catch (const ForeignUnwind&) {
    interrupted = true;
  }
  set_interrupt_check(nullptr);
  CHECK(interrupted);
  CHECK_EQ(loop.text(), str_cat(kStart, kRun, kRun, "A.interrupted B.interrupted"));
}

namespace {

// Counts runs, and saves their number in checkpoints.
class CountingHook : public RunHook {
 public:
  std::string name() const override { return "count"; }
  void after_run(RunContext&, const RunValues&) override { ++count; }
  bool has_state() const override { return true; }
  NamedTensors save_state() override {
    if (fails) fail(Code::kInternal, "on purpose");
    return {{"n", Tensor::scalar(count)}};
  }
  int64_t count = 0;
  bool fails = false;
};

// Saves after the session is created, and after an interrupt.
class SavingHook : public RunHook {
 public:
  explicit SavingHook(std::shared_ptr<Scaffold> scaffold) : scaffold_(std::move(scaffold)) {}
  std::string name() const override { return "saving"; }
  void after_create_session(Session& session, Coordinator&) override { save(session, 0); }
  void on_error(Session* session, const LoopFailure&) override { save(*session, 1); }
  bool saves_checkpoints() const override { return true; }
  static std::string path() { return runhooks_test::temporary_folder() + "/interrupted"; }

 private:
  void save(Session& session, int64_t step) { scaffold_->saver->save(session, path(), step); }
  std::shared_ptr<Scaffold> scaffold_;
};

// Returns the hook state that is saved after an interrupt of the third step.
int64_t count_at_interrupt(bool fails) {
  Loop loop;
  const auto scaffold = std::make_shared<Scaffold>();
  const auto counting = std::make_shared<CountingHook>();
  MonitoredSession session(loop.graph, std::make_unique<ChiefSessionCreator>(loop.graph, scaffold),
                           {counting, std::make_shared<SavingHook>(scaffold)});
  static const CountingHook* watched;
  watched = counting.get();
  set_interrupt_check([] {
    if (watched->count == 3) throw ForeignUnwind(/*is_interrupt=*/true);
  });
  try {
    run_block(session, [&] {
      for (int i = 0; i < 9; ++i) {
        session.run(loop.run_args);
        counting->fails = fails;
      }
    });
  } catch (const ForeignUnwind&) {
  }
  set_interrupt_check(nullptr);
  return *BundleReader(SavingHook::path() + "-1")
              .read("runhooks/hook_state/count/n")
              .data<int64_t>();
}

}  // namespace

TEST(loop_interrupt_saves_the_states_of_its_step) {
  CHECK_EQ(count_at_interrupt(false), int64_t{3});
  CHECK_EQ(count_at_interrupt(true), int64_t{0});  // the state that was saved before
}

TEST(loop_closed_sessions_report_so) {
  Loop loop;
  auto session = loop.open();
  session->run(loop.run_args);
  CHECK(loop.graph->finalized());
  session->close();
  session->close();  // a second call does nothing
  CHECK(session->should_stop());
  CHECK(!loop.graph->finalized());
  CHECK_THROWS(session->run(loop.run_args), Code::kFailedPrecondition,
               "Session is already closed.");
  CHECK_EQ(std::count(loop.trace.begin(), loop.trace.end(), "A.end"), 1L);
}

TEST(loop_run_after_a_stop_is_an_error) {
  Loop loop;
  loop.a->on_call = [&](const std::string& method, int) {
    if (method == "after") loop.a->context().request_stop();
  };
  auto session = loop.open();
  session->run(loop.run_args);
  CHECK_THROWS(session->run(loop.run_args), Code::kFailedPrecondition,
               "even after should_stop requested");
}

TEST(loop_reports_its_location) {
  Loop loop;
  std::string location;
  loop.b->on_call = [&](const std::string&, int) {
    const LoopLocation* innermost = LoopLocation::innermost();
    location =
        str_cat(innermost->hook->name(), " ", innermost->method, " ", innermost->global_step());
  };
  auto session = loop.open();
  CHECK_EQ(location, "B after_create_session 0");
  session->run(loop.run_args);
  CHECK_EQ(location, "B after_run 0");
  session.reset();
  CHECK(LoopLocation::innermost() == nullptr);
}

TEST(loop_reports_uninitialized_variables) {
  auto graph = std::make_shared<Graph>();
  VariableOptions options;
  make_variable(*graph, graph->scalar(DType::kFloat32, 1), "w", options);
  auto scaffold = std::make_shared<Scaffold>();
  scaffold->init_op = graph->op("NoOp").named("my_init");
  CHECK_THROWS(ChiefSessionCreator(graph, scaffold).create_session(), Code::kFailedPrecondition,
               "Variables not initialized: w");
}

TEST(loop_a_run_in_a_step_leaves_recovery_to_the_step) {
  Loop loop;
  fail_at(*loop.b, "before", 1, Code::kAborted);
  auto session = loop.open();
  CHECK_THROWS(session->run_in_step(loop.run_args), Code::kAborted, "on purpose");
  CHECK(session->close_if_recoverable(Error(Code::kAborted, "on purpose")));
  CHECK(!session->close_if_recoverable(Error(Code::kInternal, "on purpose")));
  CHECK_EQ(session->run_in_step(loop.run_args).result(0).number_at(0), 30.0);
  session->close();
  CHECK_EQ(loop.text(),
           str_cat(kStart, "A.before B.before A.created B.created ", kRun, "A.end B.end"));
}

TEST(recovered_loop_raises_the_coordinators_error_at_close) {
  for (const bool recovers : {true, false}) {
    Loop loop;
    loop.options.recovers = recovers;
    auto session = loop.open();
    loop.a->coordinator->request_stop(
        std::make_exception_ptr(Error(Code::kInternal, "from a thread")));
    if (recovers) {
      CHECK(session->should_stop());
      CHECK_THROWS(session->close(), Code::kInternal, "from a thread");
    } else {
      CHECK_THROWS(session->should_stop(), Code::kInternal, "from a thread");
    }
  }
}

TEST(loop_hooks_cannot_run_their_own_session) {
  Loop loop;
  auto session = loop.open();
  loop.a->on_call = [&](const std::string& method, int) {
    if (method == "after") session->run(loop.run_args);
  };
  CHECK_THROWS(session->run(loop.run_args), Code::kFailedPrecondition,
               "Hook `A` cannot run or close the session that is calling it.");
}

TEST(loop_hooks_cannot_close_their_own_session) {
  for (const char* failing_method : {"after", "end"}) {
    Loop loop;
    auto session = loop.open();
    loop.a->on_call = [&](const std::string& method, int) {
      if (method == failing_method) session->close();
    };
    const auto run_and_close = [&] {
      session->run(loop.run_args);
      session->close();
    };
    CHECK_THROWS(run_and_close(), Code::kFailedPrecondition,
                 "Hook `A` cannot run or close the session that is calling it.");
  }
}

TEST(loop_workers_do_not_wait_for_an_impossible_chief) {
  Loop loop;
  WorkerSessionCreator creator(loop.graph, nullptr, "", 7200);
  CHECK_THROWS(creator.create_session(), Code::kDeadlineExceeded,
               "Session was not ready after waiting 7200 secs.");
  WorkerSessionCreator(std::make_shared<Graph>(), nullptr, "", 7200).create_session();
}

TEST(loop_scaffolds_reuse_operations_of_another_one) {
  Loop loop;
  Scaffold first, second;
  first.finalize(*loop.graph);
  second.finalize(*loop.graph);  // the graph is finalized, so nothing can be added
  CHECK(first.init_op == second.init_op);
  CHECK(first.local_init_op == second.local_init_op);
  CHECK(first.saver == second.saver);
}
