// Compares waiting for the global step with TensorFlow's table (golden/hooks/builtin_hooks).
#include "graph/variable.h"
#include "hooks_test.h"

using namespace runhooks;
using namespace hooks_test;

namespace {

// Replaces the sleep function: increases the global step instead of sleeping, as if another process
// had trained.
struct FakeSleep {
  static inline Session* session = nullptr;
  static inline VariablePtr step;
  static inline int64_t step_increment = 0;
  static inline int sleeps = 0;
  static void sleep(double) {
    ++sleeps;
    const int64_t now = *session->value(*step).data<int64_t>();
    session->assign(*step, Tensor::scalar<int64_t>(now + step_increment));
  }
  explicit FakeSleep(int64_t increment) {
    step_increment = increment;
    sleeps = 0;
    set_sleep(sleep);
  }
  ~FakeSleep() { set_sleep(nullptr); }
};

class SessionFinder : public RunHook {
 public:
  std::string name() const override { return "SessionFinder"; }
  void after_create_session(Session& session, Coordinator&) override {
    FakeSleep::session = &session;
    FakeSleep::step = global_step(session.graph());
  }
};

}  // namespace

TEST(global_step_waiter_hook_matches_tensorflow) {
  struct Row {
    int64_t wait, step_increment;
    int sleeps, lines;
    const char* last_line;
  };
  const Row table[] = {{0, 0, 0, 0, ""},
                       {-1, 0, 0, 0, ""},
                       {3, 1, 3, 1, "Waiting for global step 3 before starting training."},
                       {2500, 600, 5, 3,
                        "Waiting for global step 2500 before starting training. Current step is "
                        "2400."},
                       {5000, 2600, 2, 2,
                        "Waiting for global step 5000 before starting training. Current step is "
                        "2600."}};
  for (const Row& row : table) {
    const CapturedLog captured;
    const FakeSleep sleep(row.step_increment);
    Counter counter(0, 1);
    MonitoredSession session(
        counter.graph, std::make_unique<ChiefSessionCreator>(counter.graph, counter.scaffold),
        {std::make_shared<SessionFinder>(),
         make_hook("GlobalStepWaiterHook", args_of({{"wait_until_step", whole(row.wait)}}))});
    session.run(counter.run_args);
    session.run(counter.run_args);
    session.close();
    CHECK_EQ(FakeSleep::sleeps, row.sleeps);
    std::vector<std::string> lines;
    for (const std::string& line : log_lines) {
      if (line.find("Waiting") == 0) lines.push_back(line);
    }
    CHECK_EQ(static_cast<int>(lines.size()), row.lines);
    if (row.lines > 0) CHECK_EQ(lines.back(), std::string(row.last_line));
  }
}
