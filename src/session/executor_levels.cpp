// Runs on several threads: the steps of one level of the schedule do not depend on each other, and
// the threads share them. Each is computed by one thread from the same inputs as in the plain
// order, so the results are the same. Only plans whose runs take long enough are run so.
#include "session/executor_levels.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "base/shared_work.h"
#include "base/threads.h"
#include "session/schedule.h"

namespace runhooks {

namespace {

constexpr int kMeasuredRuns = 4;
constexpr int64_t kWorthOfPlan = 100000;  // nanoseconds of a run that are worth threads
constexpr int64_t kWorthOfLevel = 5000;   // that a second thread can take off a level
constexpr int64_t kWorthOfStep = 300;     // of a step that another thread may take

}  // namespace

// Runs the plan on several threads or finds out whether to; FALSE where the plain way is to be
// taken.
bool Executor::run_on_threads() {
  if (kernel_threads() < 2) return false;
  if (!levels_) levels_ = std::make_unique<Levels>();
  if (levels_->runs <= kMeasuredRuns) {
    if (levels_->runs++ == 0) return false;  // the first run makes buffers
    run_measured();
    if (levels_ && levels_->runs > kMeasuredRuns) make_levels();
    return true;
  }
  if (levels_->levels.empty()) return false;
  run_levels();
  return true;
}

void Executor::run_measured() {
  using Clock = std::chrono::steady_clock;
  bool always_prepare_changed = false;
  for (Step& step : steps_) {
    const Clock::time_point start = Clock::now();
    always_prepare_changed = prepare_if_needed(step) || always_prepare_changed;
    execute(step);
    if (step.item->layout_changed) settle(step);
    const int64_t ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
    // what a busy machine adds is no cost
    if (step.cost_ns == 0 || ns < step.cost_ns) step.cost_ns = ns;
  }
  if (always_prepare_changed) choose_hot_steps();
}

void Executor::make_levels() {
  int64_t cost = 0;
  for (const Step& step : steps_) cost += step.cost_ns;
  if (cost < kWorthOfPlan) return;
  for (Step& step : steps_) {
    const auto number = static_cast<size_t>(step.node->level);
    if (number >= levels_->levels.size()) levels_->levels.resize(number + 1);
    Levels::Level& level = levels_->levels[number];
    const bool shared = may_run_on_helper(step.item->op) && step.cost_ns > kWorthOfStep;
    (!step.is_hot ? level.idle : shared ? level.shared : level.alone).push_back(&step);
  }
  for (Levels::Level& level : levels_->levels) level.balance();
}

void Executor::Levels::Level::balance() {
  std::stable_sort(shared.begin(), shared.end(),
                   [](const Step* a, const Step* b) { return a->cost_ns > b->cost_ns; });
  int64_t all = 0;
  for (const Step* step : shared) all += step->cost_ns;
  const auto spreads = [](const Step& step) {
    return step.item->kernel && step.item->kernel->uses_threads();
  };
  while (!shared.empty() && spreads(*shared[0]) && 2 * shared[0]->cost_ns > all) {
    all -= shared[0]->cost_ns;
    alone.push_back(shared[0]);
    shared.erase(shared.begin());
  }
  const int64_t longest = shared.empty() ? 0 : shared[0]->cost_ns;
  if (std::min(all - longest, all / 2) < kWorthOfLevel) {
    alone.insert(alone.end(), shared.begin(), shared.end());
    shared.clear();
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
    bool changes = false;
    const auto finish = [&](Step& step) {
      if (!step.item->layout_changed) return;
      settle(step);
      changes = true;
    };
    const auto run_alone = [&](Step& step) {
      run_step(step);
      finish(step);
    };
    if (layout_changed) {
      for (Step* step : level.idle) run_alone(*step);
    }
    for (Step* step : level.alone) run_alone(*step);
    levels_->run_shared(level.shared, run_step);
    for (Step* step : level.shared) finish(*step);
    layout_changed = layout_changed || changes;
  }
  if (always_prepare_changed) choose_hot_steps();
}

template <typename Run>
void Executor::Levels::run_shared(const std::vector<Step*>& steps, Run run_step) {
  if (steps.empty()) return;
  struct Work {
    const std::vector<Step*>& steps;
    std::vector<std::exception_ptr>& errors;
    Run& run_step;
  } work{steps, errors, run_step};
  errors.assign(steps.size(), nullptr);
  share_work(
      steps.size(), kernel_threads(),
      [](void* context, size_t i) {
        auto& shared = *static_cast<Work*>(context);
        try {
          shared.run_step(*shared.steps[i]);
        } catch (...) {
          shared.errors[i] = std::current_exception();
        }
      },
      &work);
  size_t first = steps.size();
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!errors[i]) continue;
    if (first == steps.size() || steps[i]->item->op.id() < steps[first]->item->op.id()) first = i;
  }
  if (first < steps.size()) std::rethrow_exception(errors[first]);
}

}  // namespace runhooks
