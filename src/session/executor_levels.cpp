// Multi-threaded runs: threads share the steps of one level, which are independent. Each step runs
// on one thread with the same inputs as in serial order, so results are identical. Only plans with
// sufficiently long runs use threads.
#include "session/executor_levels.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/on_wait_scope.h"
#include "base/thread_pool.h"
#include "base/threads.h"
#include "session/schedule.h"

namespace runhooks {

namespace {

constexpr int kMeasuredRuns = 4;
// Minimum durations: for shorter plans, gains and steps, waking threads costs more than it saves.
constexpr int64_t kMinPlanNs = 100000;
constexpr int64_t kMinLevelGainNs = 5000;
constexpr int64_t kMinStepNs = 300;

}  // namespace

// Runs the plan on several threads, or measures its steps to decide whether to use threads. Returns
// false if the caller must run the plan serially.
bool Executor::run_on_threads() {
  if (kernel_threads() < 2) return false;
  if (!levels_) levels_ = std::make_unique<Levels>();
  if (levels_->runs <= kMeasuredRuns) {
    if (levels_->runs++ == 0) return false;  // the first run allocates buffers
    run_measured();
    if (levels_ && levels_->runs > kMeasuredRuns) make_levels();
    return true;
  }
  if (!levels_->has_parallel_steps) return false;
  run_levels();
  return true;
}

void Executor::run_measured() {
  bool always_prepare_changed = false;
  for (Step& step : steps_) {
    const int64_t start_ns = steady_ns();
    always_prepare_changed = prepare_if_needed(step) || always_prepare_changed;
    execute(step);
    if (step.item->layout_changed) commit_layout_change(step);
    if (step.is_long) check_interrupt();
    const int64_t ns = steady_ns() - start_ns;
    // Keeps the minimum of all measurements, which excludes delays by other processes.
    if (step.cost_ns == 0 || ns < step.cost_ns) step.cost_ns = ns;
  }
  if (always_prepare_changed) choose_hot_steps();
}

void Executor::make_levels() {
  int64_t cost = 0;
  for (const Step& step : steps_) cost += step.cost_ns;
  if (cost < kMinPlanNs) return;
  for (Step& step : steps_) {
    const auto level_index = static_cast<size_t>(step.node->level);
    if (level_index >= levels_->levels.size()) levels_->levels.resize(level_index + 1);
    Levels::Level& level = levels_->levels[level_index];
    const bool is_parallel = may_run_on_helper(step.item->op) && step.cost_ns > kMinStepNs;
    (!step.is_hot  ? level.prepare_only
     : is_parallel ? level.parallel
                   : level.serial)
        .push_back(&step);
  }
  for (Levels::Level& level : levels_->levels) {
    level.balance();
    levels_->has_parallel_steps = levels_->has_parallel_steps || !level.parallel.empty();
  }
}

void Executor::Levels::Level::balance() {
  std::stable_sort(parallel.begin(), parallel.end(),
                   [](const Step* a, const Step* b) { return a->cost_ns > b->cost_ns; });
  int64_t total_ns = 0;
  for (const Step* step : parallel) total_ns += step->cost_ns;
  const auto uses_threads = [](const Step& step) {
    return step.item->kernel && step.item->kernel->uses_threads();
  };
  while (!parallel.empty() && uses_threads(*parallel[0]) && 2 * parallel[0]->cost_ns > total_ns) {
    total_ns -= parallel[0]->cost_ns;
    serial.push_back(parallel[0]);
    parallel.erase(parallel.begin());
  }
  const int64_t longest = parallel.empty() ? 0 : parallel[0]->cost_ns;
  if (std::min(total_ns - longest, total_ns / 2) < kMinLevelGainNs) {
    serial.insert(serial.end(), parallel.begin(), parallel.end());
    parallel.clear();
  }
}

void Executor::run_levels() {
  bool layout_changed = !is_verified();
  std::atomic<bool> always_prepare_changed{false};
  const auto run_step = [&](Step& step) {
    if (layout_changed && prepare_if_needed(step)) always_prepare_changed = true;
    execute(step);
  };
  for (Levels::Level& level : levels_->levels) {
    bool has_changes = false;
    const auto finish = [&](Step& step) {
      if (!step.item->layout_changed) return;
      commit_layout_change(step);
      has_changes = true;
    };
    const auto run_serially = [&](Step& step) {
      run_step(step);
      finish(step);
      if (step.is_long) check_interrupt();
    };
    if (layout_changed) {
      for (Step* step : level.prepare_only) run_serially(*step);
    }
    for (Step* step : level.serial) run_serially(*step);
    levels_->run_parallel(level.parallel, run_step);
    for (Step* step : level.parallel) finish(*step);
    // The steps are sorted by duration, so the first one is the longest.
    if (!level.parallel.empty() && level.parallel[0]->is_long) check_interrupt();
    layout_changed = layout_changed || has_changes;
  }
  if (always_prepare_changed) choose_hot_steps();
}

namespace {

// Cancels the other threads that run steps of the same level after an interrupt. Only the session's
// thread can observe an interrupt.
class LevelCancellation {
 public:
  explicit LevelCancellation(bool can_cancel) : can_cancel_(can_cancel) {}

  // Runs a step and stores its exception in `error`.
  template <typename Run>
  void run(const Run& step, std::exception_ptr& error) {
    const bool is_helper = std::this_thread::get_id() != caller_;
    if (is_helper) set_cancel_flag(&cancelled_);
    try {
      step();
    } catch (const ForeignUnwind&) {
      cancel();
    } catch (...) {
      error = std::current_exception();
    }
    if (is_helper) set_cancel_flag(nullptr);
  }
  // Polls while this thread waits for the others.
  void poll() {
    if (!can_cancel_ || cancelled_.load(std::memory_order_relaxed)) return;
    try {
      check_interrupt_throttled();
    } catch (...) {
      cancel();
    }
  }
  void rethrow() const {
    if (unwind_) std::rethrow_exception(unwind_);
  }

 private:
  void cancel() {
    unwind_ = std::current_exception();
    cancelled_ = true;
  }
  const bool can_cancel_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<bool> cancelled_{false};
  std::exception_ptr unwind_;
};

}  // namespace

template <typename Run>
void Executor::Levels::run_parallel(const std::vector<Step*>& steps, Run run_step) {
  if (steps.empty()) return;
  const bool can_cancel =
      std::all_of(steps.begin(), steps.end(), [](const Step* step) { return step->can_cancel; });
  LevelCancellation cancellation(can_cancel);
  struct Work {
    const std::vector<Step*>& steps;
    std::vector<std::exception_ptr>& errors;
    Run& run_step;
    LevelCancellation& cancellation;
  } work{steps, errors, run_step, cancellation};
  errors.assign(steps.size(), nullptr);
  const OnWaitScope waiting([](void* context) { static_cast<LevelCancellation*>(context)->poll(); },
                            &cancellation);
  parallel_for(
      steps.size(), kernel_threads(),
      [](void* context, size_t i) {
        auto& w = *static_cast<Work*>(context);
        w.cancellation.run([&] { w.run_step(*w.steps[i]); }, w.errors[i]);
      },
      &work);
  cancellation.rethrow();
  size_t first = steps.size();
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!errors[i]) continue;
    if (first == steps.size() || steps[i]->item->op.id() < steps[first]->item->op.id()) first = i;
  }
  if (first < steps.size()) std::rethrow_exception(errors[first]);
}

}  // namespace runhooks
