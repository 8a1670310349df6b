// ParallelismTuner selects the fastest parallel mode of a plan, and notices changes.
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

// Simulates `rounds` rounds, including the runs in the best mode between them.
void try_rounds(ParallelismTuner& trial, int rounds, const Times& times) {
  for (; rounds > 0; --rounds) {
    while (!trial.is_trying()) trial.took(0);
    for (int way = 0; way < 3 && trial.is_trying(); ++way) trial.took(times.of(trial.way()));
  }
}

}  // namespace

TEST(tuner_measures_each_mode_and_then_uses_the_best) {
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

TEST(tuner_detects_a_new_fastest_mode) {
  ParallelismTuner trial(true);
  const auto best_after = [&](int rounds, const Times& times) {
    try_rounds(trial, rounds, times);
    return trial.way();
  };
  CHECK(best_after(9, {100, 150, 130}) == ParallelMode::kLevels);
  CHECK(best_after(1, {900, 150, 130}) == ParallelMode::kLevels);  // an outlier
  CHECK(best_after(9, {300, 150, 130}) == ParallelMode::kNone);
  CHECK(best_after(9, {300, 100, 130}) == ParallelMode::kKernels);
}

TEST(tuner_ignores_small_differences) {
  ParallelismTuner trial(true);
  try_rounds(trial, 9, {100, 200, 98});
  CHECK(trial.way() == ParallelMode::kLevels);
  try_rounds(trial, 9, {100, 200, 90});
  CHECK(trial.way() == ParallelMode::kNone);
}

TEST(tuner_of_a_plan_without_levels_has_two_modes) {
  ParallelismTuner trial(false);
  for (int run = 0; run < 18; ++run) {
    CHECK(trial.is_trying() && trial.way() == (run % 2 ? ParallelMode::kNone : ParallelMode::kKernels));
    trial.took(run % 2 ? 50 : 100);
  }
  CHECK(!trial.is_trying() && trial.way() == ParallelMode::kNone);
}
