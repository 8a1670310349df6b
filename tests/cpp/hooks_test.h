// A clock that tests set, and a loop that counts steps, for tests of hooks.
#pragma once

#include "hooks/hook_registry.h"
#include "monitored/monitored_session.h"
#include "base/clock.h"
#include "base/log.h"
#include "test.h"

namespace hooks_test {

using namespace runhooks;

inline double fake_time = 0;

struct FakeClock {
  FakeClock() {
    fake_time = 0;
    set_clock([] { return fake_time; });
  }
  ~FakeClock() { set_clock(nullptr); }
};

inline Args args_of(std::initializer_list<std::pair<const char*, Value>> items) {
  Args args("the hook");
  for (const auto& item : items) args.set(item.first, item.second);
  return args;
}

inline Value whole(int64_t x) { return Value::of(x); }

// A graph whose train op adds `increment` to the global step, starting from `start`.
struct Counter {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  RunArgs run_args;
  Counter(int64_t start, int64_t increment) {
    const VariablePtr step = get_or_create_global_step(*graph);
    graph->add_to_collection(collection_keys::kLosses,
                             graph->constant(Tensor::vector<float>({1, 3})));
    run_args.fetches = {
        graph
            ->op("AssignAdd",
                 {step->handle, graph->scalar(DType::kInt64, static_cast<double>(increment))})
            .build()};
    scaffold->init_fn = [step, start](Session& session) {
      session.assign(*step, Tensor::scalar<int64_t>(start));
    };
  }
  std::shared_ptr<Scaffold> scaffold = std::make_shared<Scaffold>();
};

// Runs with this hook up to `limit` times and returns the number of runs.
inline int run_counter(Counter& counter,
                       const HookPtr& hook,
                       int limit = 1000,
                       double secs_per_run = 0) {
  int runs = 0;
  MonitoredSession session(counter.graph,
                           std::make_unique<ChiefSessionCreator>(counter.graph, counter.scaffold),
                           {hook});
  run_block(session, [&] {
    while (!session.should_stop() && runs < limit) {
      fake_time += secs_per_run;
      session.run(counter.run_args);
      ++runs;
    }
  });
  return runs;
}

inline std::string fresh_folder(const char* name) {
  static int count = 0;
  return str_cat(runhooks_test::temporary_folder(), "/", name, ++count);
}

// The log lines since the last CapturedLog was created.
inline std::vector<std::string> log_lines;

struct CapturedLog {
  CapturedLog() {
    log_lines.clear();
    set_log_verbosity(LogLevel::kInfo);
    set_log_sink([](LogLevel, const char*, const std::string& text) { log_lines.push_back(text); });
  }
  ~CapturedLog() {
    set_log_verbosity(LogLevel::kWarn);
    set_log_sink(nullptr);
  }
  // Returns the lines that contain `text`, separated by newlines.
  std::string with(const std::string& text) const {
    std::vector<std::string> found;
    for (const std::string& line : log_lines) {
      if (line.find(text) != std::string::npos) found.push_back(line);
    }
    return str_join(found, "\n");
  }
};

}  // namespace hooks_test
