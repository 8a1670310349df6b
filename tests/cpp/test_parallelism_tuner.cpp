// How plans use threads: the way that takes the least time, found again where that changes.
#include "session/parallelism_tuner.h"
#include "test.h"

using namespace runhooks;

namespace {

struct Times {
  int64_t levels, kernels, none;
  int64_t of(ParallelMode way) const {
    return way == ParallelMode::kLevels ? levels : way == ParallelMode::kKernels ? kernels : none;
  }
};

// So many rounds, and the runs by the best way between them.
void try_rounds(ParallelismTuner& trial, int rounds, const Times& times) {
  for (; rounds > 0; --rounds) {
    while (!trial.is_trying()) trial.took(0);
    for (int way = 0; way < 3 && trial.is_trying(); ++way) trial.took(times.of(trial.way()));
  }
}

}  // namespace

TEST(thread_trial_gives_each_way_a_run_and_then_the_best_one) {
  ParallelismTuner trial(true);
  for (int round = 0; round < 9; ++round) {
    for (const ParallelMode way : {ParallelMode::kLevels, ParallelMode::kKernels, ParallelMode::kNone}) {
      CHECK(trial.is_trying() && trial.way() == way);
      trial.took(way == ParallelMode::kNone ? 90 : 100);
    }
  }
  for (int run = 0; run < 120; ++run) {
    CHECK(!trial.is_trying() && trial.way() == ParallelMode::kNone);
    trial.took(0);
  }
  CHECK(trial.is_trying() && trial.way() == ParallelMode::kLevels);
}

TEST(thread_trial_finds_when_another_way_is_the_fastest) {
  ParallelismTuner trial(true);
  const auto best_after = [&](int rounds, const Times& times) {
    try_rounds(trial, rounds, times);
    return trial.way();
  };
  CHECK(best_after(9, {100, 150, 130}) == ParallelMode::kLevels);
  CHECK(best_after(1, {900, 150, 130}) == ParallelMode::kLevels);  // a disturbance
  CHECK(best_after(9, {300, 150, 130}) == ParallelMode::kNone);
  CHECK(best_after(9, {300, 100, 130}) == ParallelMode::kKernels);
}

TEST(thread_trial_stays_where_little_is_won) {
  ParallelismTuner trial(true);
  try_rounds(trial, 9, {100, 200, 98});
  CHECK(trial.way() == ParallelMode::kLevels);
  try_rounds(trial, 9, {100, 200, 90});
  CHECK(trial.way() == ParallelMode::kNone);
}

TEST(thread_trial_of_a_plan_without_levels_has_two_ways) {
  ParallelismTuner trial(false);
  for (int run = 0; run < 18; ++run) {
    CHECK(trial.is_trying() && trial.way() == (run % 2 ? ParallelMode::kNone : ParallelMode::kKernels));
    trial.took(run % 2 ? 50 : 100);
  }
  CHECK(!trial.is_trying() && trial.way() == ParallelMode::kNone);
}
