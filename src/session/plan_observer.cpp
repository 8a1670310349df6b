// Runs that are watched: how long each operation takes, and whether the time is up.
#include <chrono>

#include "session/plan.h"
#include "base/clock.h"

namespace runhooks {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> input_names(const Operation& op) {
  std::vector<std::string> names;
  for (const Output& input : op.inputs()) {
    names.push_back(input.index == 0 ? input.op->name() : input.name());
  }
  for (const Operation* control : op.control_inputs()) names.push_back("^" + control->name());
  return names;
}

}  // namespace

class Plan::Observer {
 public:
  Observer(Plan& plan, const RunOptions& options, StepStats* stats)
      : plan_(plan), start_(Clock::now()), timeout_in_ms_(options.timeout_in_ms), stats_(stats) {
    plan_.observer_ = this;
  }
  ~Observer() { plan_.observer_ = nullptr; }
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  int64_t elapsed_ns() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
  }
  void check_time() const {
    if (timeout_in_ms_ > 0 && elapsed_ns() > timeout_in_ms_ * 1000000) {
      fail(Code::kDeadlineExceeded, "Timed out: the run has taken more than its timeout_in_ms of ",
           timeout_in_ms_, ".");
    }
  }
  void record(Node& node, int64_t start_ns) {
    if (!stats_) return;
    NodeStats stats;
    stats.name = node.op.name();
    stats.op = node.op.type();
    stats.inputs = input_names(node.op);
    stats.start_ns = start_ns;
    stats.end_ns = elapsed_ns();
    for (int i = 0; i < node.context.num_outputs(); ++i) {
      const Tensor& value = node.context.output(i);
      if (!value.is_valid()) continue;
      stats.outputs.push_back(
          {i, value.dtype(), value.shape(), static_cast<int64_t>(value.num_bytes())});
    }
    stats_->nodes.push_back(std::move(stats));
  }

 private:
  Plan& plan_;
  Clock::time_point start_;
  int64_t timeout_in_ms_;
  StepStats* stats_;
};

void Plan::execute_observed(Node& node) {
  observer_->check_time();
  const int64_t start_ns = observer_->elapsed_ns();
  execute(node);
  observer_->record(node, start_ns);
}

void Plan::run(const std::vector<Tensor>& feed_values,
               const RunOptions& options,
               RunMetadata& metadata) {
  metadata.step_stats.reset();
  if (options.is_default()) return run(feed_values);
  if (options.trace_level > RunOptions::kNoTrace) {
    metadata.step_stats = std::make_shared<StepStats>();
    metadata.step_stats->start_seconds = now_seconds();
  }
  Observer observer(*this, options, metadata.step_stats.get());
  run(feed_values);
}

}  // namespace runhooks
